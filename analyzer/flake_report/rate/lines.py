"""Lines of builds: the branches of pipelines. What a commit breaks stays broken along its line, and on no other."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

from flake_report.model.evidence import Build

Line: TypeAlias = tuple[str, str, str]
"""Organization, pipeline, branch."""


def line_of(build: Build) -> Line:
    """The line that a build is on."""
    return build.org, build.pipeline, build.branch


class Lines:
    """The lines that one pool ran on, and in which builds."""

    def __init__(self, lines: Sequence[Line], pool: Sequence[int]) -> None:
        """`lines` are those of the builds, by order, `pool` the orders of the builds in which the pool ran, rising."""
        self._lines = lines
        self._pool = pool

    @cached_property
    def _orders(self) -> dict[Line, list[int]]:
        """The pool's orders on each line; sorted out when they are asked for, as of most pools nobody asks."""
        lines = [self._lines[order] for order in self._pool]
        if lines and lines.count(lines[0]) == len(lines):  # of most pipelines one branch is asked for
            return {lines[0]: list(self._pool)}
        found: dict[Line, list[int]] = defaultdict(list)
        for line, order in zip(lines, self._pool, strict=True):
            found[line].append(order)
        return found

    def of(self, order: int) -> Line:
        """The line of the build of this order."""
        return self._lines[order]

    def meets(self, line: Line, first: int, last: int) -> bool:
        """Whether the pool ran on this line between two builds, both included.

        A streak of a test's runs is taken to hold a run of each line that it meets: which is so where the test ran in
        every build of its pool.
        """
        orders = self._orders.get(line, [])
        at = bisect_left(orders, first)
        return at < len(orders) and orders[at] <= last
