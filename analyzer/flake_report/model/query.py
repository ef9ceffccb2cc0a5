"""Which part of the history is asked for, and the one rule by which names are matched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Query:
    """The part of the history to count; what is None does not limit.

    `since` is a time, or a length counted back from the newest build of the branch. A build counts when
    since <= created_at < until. `branch` is the whole name or a pattern of `*` and `?`; step, queue and test are
    read by `contains` and `of_test`.
    """

    since: datetime | timedelta | None = None
    until: datetime | None = None
    branch: str | None = None
    step: str | None = None
    queue: str | None = None
    test: str | None = None


Pools: TypeAlias = frozenset[tuple[str, str]]
"""Steps with their queues: where tests run that somebody asks for."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern for names, matched case-sensitively from the first character to the last.

    Only `*` (any text) and `?` (one character) are special: brackets belong to parametrised tests.
    """

    text: str

    @property
    def like(self) -> str:
        """The same pattern for SQL's LIKE with `!` as the escape character."""
        return "".join(_LIKE.get(char, char) for char in self.text)

    def matches(self, name: str) -> bool:
        """Whether the whole name fits."""
        return _compiled(self.text).fullmatch(name) is not None


@cache
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile("".join(_REGEX.get(char) or re.escape(char) for char in glob), re.DOTALL)


_LIKE = {"*": "%", "?": "_", "%": "!%", "_": "!_", "!": "!!"}
_REGEX = {"*": ".*", "?": "."}


def contains(pattern: str) -> Glob:
    """For names that people know in part: a plain word may stand anywhere, a glob must fit the whole name."""
    return Glob(pattern if "*" in pattern or "?" in pattern else f"*{pattern}*")


def of_test(pattern: str) -> Glob:
    """For tests, matched against `classname::name`; a pytest node id is brought to that form first."""
    return contains(label(pattern))


def label(test: str) -> str:
    """A pytest node id as `classname::name`; any other text as it is.

    `tests/v1/test_x.py::TestA::test_y` and `v1/test_x.py::TestA::test_y` both read `v1.test_x.TestA::test_y`.
    """
    return _NODE_ID.sub(_dotted, test)


def node_id(test: str) -> str:
    """What pytest takes for a `classname::name`: the way back from `label`, as far as names can tell.

    The module is what is called `test_…` or `…_test`, and classes follow it; where nothing is called so, the text
    comes back as it is. The path is below the folder `tests`, or below the root: the label does not know which.
    """
    head, bracket, parameters = test.partition("[")
    classname, _, name = head.rpartition("::")
    parts = classname.split(".")
    module = max(
        (at for at, part in enumerate(parts) if part.startswith("test_") or part.endswith("_test")), default=-1
    )
    if module < 0:
        return test
    return "::".join(["/".join(parts[: module + 1]) + ".py", *parts[module + 1 :], name]) + bracket + parameters


_NODE_ID = re.compile(r"^(?:\./)?(?:tests/)?(?P<module>[^\[\s]*?)\.py(?:::(?P<inner>.*))?$", re.DOTALL)


def _dotted(found: re.Match[str]) -> str:
    module, inner = found["module"].replace("/", "."), found["inner"]
    if inner is None:
        return module
    head, bracket, parameters = inner.partition("[")
    *classes, name = head.split("::")
    return f"{'.'.join((module, *classes))}::{name}{bracket}{parameters}"
