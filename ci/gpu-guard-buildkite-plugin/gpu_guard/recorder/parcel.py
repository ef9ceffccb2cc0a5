"""What travels with a pytest report: from a forked test to its parent, from an xdist worker to the controller.

A report's own attributes survive both ways as long as they are plain values; so this is one dictionary of those.
"""

from __future__ import annotations

from typing import Any, TypedDict, cast

Line = dict[str, Any]
"""One line of the attempts file, as far as it is known; `attempt` is numbered by whoever writes it."""


class Done(TypedDict):
    """A finished attempt; `left_in` says in words what holds its leak."""

    line: Line
    left_in: list[str]


class Parcel(TypedDict, total=False):
    """What a parcel may hold.

    `fingerprint` is of this report's failure, `excused` that quarantine covers it, `nodeid` the test's own id where
    the report's differs. `done` are finished attempts; `draft` one that only waits for its last memory sample;
    `opening` what is known of one that runs; `forked` the lines of a forked test; `crash_told` that the crash
    reported here has its line.
    """

    fingerprint: str
    nodeid: str
    excused: bool
    done: list[Done]
    draft: Line
    opening: Line
    forked: list[Line]
    crash_told: bool


def parcel_of(report: Any) -> Parcel:
    """The parcel of a report, to put something in."""
    if not hasattr(report, "gpu_guard"):
        report.gpu_guard = {}
    return cast("Parcel", report.gpu_guard)


def parcel_in(report: Any) -> Parcel:
    """The parcel that a report carries, or an empty one that stays off it."""
    return cast("Parcel", getattr(report, "gpu_guard", {}))
