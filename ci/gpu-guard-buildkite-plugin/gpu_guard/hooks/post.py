"""After the command: memory against before, what is left running, what was recorded. It never fails a job."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from gpu_guard import guard, leftovers
from gpu_guard.memory.visible import HIDING
from gpu_guard.probe import Snapshot

from . import courier
from .deadline import end_after
from .growth import Growth, compare, vanished
from .harvest import harvest
from .log import say
from .note import note
from .prior import SLACK, STATE

SETTLE = 5.0
"""Seconds for memory to come back: an ended process gives it back within one, a container's a little later."""

_AGAIN = 0.5


def run(environ: Mapping[str, str]) -> None:
    """Tell the log, and Buildkite where its agent is at hand."""
    state = _state(environ.get(STATE, ""))
    if state is None:
        return
    timer = end_after(SLACK, 0)
    try:
        _look(state, environ)
    finally:
        timer.cancel()


def _look(state: dict[str, Any], environ: Mapping[str, str]) -> None:
    # A hook that ran later may have chosen other cards for the command: the same ones as before are looked at.
    chosen = {**{name: value for name, value in environ.items() if name not in HIDING}, **state["choice"]}
    growth, after = _settled(state["before"], chosen)
    lost = [device for device in growth if device.lost]
    left = [f"{one.name or 'a process'} (pid {one.pid}) outlives this job" for one in leftovers.of_job(environ)]
    holders = after.holders() if after is not None and lost else []
    gone = vanished(state["before"], None if after is None else after.as_data())
    for sentence in [device.sentence() for device in growth] + gone + left + holders:
        say(sentence)
    if state["recorded"] and courier.present():
        _upload(Path(state["checkout"]))
    if lost and state["annotate"] and courier.present():
        _annotate(lost, left, holders, environ)


def _state(path: str) -> Optional[dict[str, Any]]:
    try:
        state: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        Path(path).unlink()
    except (OSError, ValueError) as error:
        say(f"what was seen before the job is not known any more: {error}")
        return None
    return state


def _settled(before: Optional[dict[str, Any]], environ: Mapping[str, str]) -> tuple[list[Growth], Optional[Snapshot]]:
    """The comparison and the snapshot that it rests on, once memory came back or did not."""
    until = time.monotonic() + SETTLE
    while True:
        after = None if before is None else guard.take(environ)
        growth = compare(before, None if after is None else after.as_data())
        if not any(device.lost for device in growth) or time.monotonic() >= until:
            return growth, after
        time.sleep(_AGAIN)


def _upload(checkout: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="gpu-guard-") as scratch:
        target = Path(scratch) / "gpu-guard"
        target.mkdir()
        try:
            taken, left = harvest(checkout, target)
        except OSError as error:
            say(f"nothing is uploaded: {error}")
            return
        for sentence in left:
            say(sentence)
        if not taken:
            say("no test session was recorded")
            return
        failed = courier.upload(Path(scratch), [f"gpu-guard/{name}" for name in taken])
        say(failed or f"{len(taken)} files of recorded tests are uploaded")


def _annotate(lost: list[Growth], left: list[str], holders: list[str], environ: Mapping[str, str]) -> None:
    job = environ.get("BUILDKITE_JOB_ID", "")
    for failed in (
        courier.annotate(note(lost, environ, left, holders), job),
        courier.set_meta_data(f"gpu-guard:{job}", json.dumps({"lost_bytes": {each.name: each.lost for each in lost}})),
    ):
        if failed:
            say(failed)
