"""What a `<testcase>` and its suite say, before it is known which cases are attempts of one test."""

from __future__ import annotations

from typing import NamedTuple

from .junit_dialect import Dialect

FINAL = {"failure": "f", "error": "e"}
SKIPS = frozenset({"skipped", "skip", "ignored", "disabled"})
EARLIER = frozenset({"flakyFailure", "flakyError", "rerunFailure", "rerunError"})
XFAIL = "pytest.xfail"
"""The type of a skip that is an expected failure."""
ONE_ATTEMPT = "several failures are checks of one attempt"
_SKIPPED_STATUS = frozenset({"skipped", "notrun", "disabled", "ignored", "pending", "suppressed"})


class Part(NamedTuple):
    """A child of a case that tells of an outcome: `<failure>`, `<skipped>`, `<flakyError>` …"""

    kind: str
    message: str
    type: str
    text: str
    time: str
    stamp: str


class Suite(NamedTuple):
    """A `<testsuite>` that holds cases itself. `number` counts suites from 1; 0 is a case outside any suite.

    `declared` is its `tests` attribute, None where that is no number.
    """

    number: int
    name: str
    hostname: str
    stamp: str
    declared: int | None
    dialect: Dialect


NO_SUITE = Suite(0, "", "", "", None, Dialect.OTHER)
"""What a case outside any suite is in."""


class Case(NamedTuple):
    """A `<testcase>`. `output` is what it printed; `category` its outcome by the usual way of counting."""

    classname: str
    name: str
    file: str
    time: str
    stamp: str
    category: str
    parts: tuple[Part, ...]
    output: str
    facts: tuple[str, ...]
    """What else is known: `ONE_ATTEMPT`, and properties of this project's own as `phase=setup`."""


PASSED, FAILED, ERROR, SKIPPED = "p", "f", "e", "s"


def category(kinds: frozenset[str] | set[str], status: str, result: str) -> str:
    """One of the four outcomes, by a case's direct children, then by its `status` and `result` attributes."""
    if "failure" in kinds:
        return FAILED
    if "error" in kinds:
        return ERROR
    if kinds & SKIPS or status.lower() in _SKIPPED_STATUS or result.lower() in _SKIPPED_STATUS:
        return SKIPPED
    return PASSED
