"""A whole collection against a server that counts requests by the minute; nobody waits in truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collect.server.buildkite import Buildkite, running
from collect.server.clock import FakeTime
from collect.server.meter import Meter
from collect.server.world import World

Collect = Callable[..., Any]


@pytest.fixture
def meter(time: FakeTime) -> Meter:
    """The limits of Buildkite; a quarter of the organization's is used by others."""
    return Meter(lambda: time.at, user=50, org=200, others=50)


@pytest.fixture
def buildkite(meter: Meter) -> Iterator[Buildkite]:
    world = World()
    for number in range(1, 31):
        world.add_build(number, *(world.add_job(f"{number}/{name}") for name in "abcd"))
    with running(world, meter) as servers:
        yield servers


def test_the_limit_is_used_up_and_never_met(meter: Meter, collect_into: Collect, tmp_path: Path) -> None:
    progress, warnings = collect_into(tmp_path)
    assert (progress.jobs, progress.requests, warnings) == (120, 151, [])
    assert meter.refused == 0
    assert meter.most > 40


def test_a_budget_of_half_leaves_half_of_each_minute(meter: Meter, collect_into: Collect, tmp_path: Path) -> None:
    assert collect_into(tmp_path, budget=0.5)[0].jobs == 120
    assert meter.refused == 0
    assert 15 < meter.most <= 26


def test_an_older_server_that_tells_of_the_organization_alone_is_obeyed(
    meter: Meter, collect_into: Collect, tmp_path: Path
) -> None:
    meter.user_headers = False
    progress, warnings = collect_into(tmp_path)
    assert (progress.jobs, progress.missed, warnings) == (120, 0, [])
    assert 1 <= meter.refused <= 60  # the limit of the user is met before it is known; each time it is waited for


def test_waits_are_told_as_they_begin(collect_into: Collect, tmp_path: Path) -> None:
    waits: list[float] = []
    collect_into(tmp_path, told=lambda progress: waits.append(progress.waits))
    assert 30 < max(waits) <= 60
