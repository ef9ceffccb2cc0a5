"""The order of builds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import accumulate
from typing import TypeAlias

from flake_report.model.evidence import Build

BuildKey: TypeAlias = tuple[str, str, str]


def key(build: Build) -> BuildKey:
    """What tells builds apart."""
    return build.org, build.pipeline, build.key


def places(builds: Iterable[Build]) -> dict[BuildKey, int]:
    """Each build's place, from 0. Within a pipeline by number; builds without one by time.

    Pipelines are merged by the time that each had reached, the latest creation so far: so a clock that went wrong
    once moves one build, and never turns the order of numbers.
    """
    lines: dict[tuple[str, str, bool], list[Build]] = defaultdict(list)
    for build in builds:
        lines[build.org, build.pipeline, build.number is None].append(build)
    merged: list[tuple[datetime, Build]] = []
    for line in lines.values():
        line.sort(key=lambda build: (build.number or 0, build.created_at, build.key))
        merged += zip(accumulate((build.created_at for build in line), max), line, strict=True)
    merged.sort(key=lambda pair: (pair[0], pair[1].org, pair[1].pipeline, *_within(pair[1])))
    return {key(build): place for place, (_, build) in enumerate(merged)}


def _within(build: Build) -> tuple[bool, int, datetime, str]:
    return build.number is None, build.number or 0, build.created_at, build.key
