"""Which tool wrote a suite, as far as that changes what its elements mean."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum


class Dialect(IntEnum):
    """Tools whose duplicates or children have a meaning of their own."""

    OTHER = 0
    PYTEST = 1
    """Elements beyond the suite's `tests` are earlier attempts, written empty; ids lose a leading `tests`."""
    GO = 2
    """gotestsum and go-junit-report: Go allows no two tests of one name, so equal elements are runs of one test."""
    PLAYWRIGHT = 3
    """A suite's hostname is the project (the browser); retries stand in the text of a failure."""
    OWN = 4
    """Written by this project: a suite's name is the session, its hostname what tells equal tests apart."""


# The order in which a tool writes a suite's attributes is as good as a signature: a name can be set by the user.
_PYTEST_SUITES = (
    ("name", "errors", "failures", "skipped", "tests", "time", "timestamp", "hostname"),  # pytest 5.1 and later
    ("errors", "failures", "hostname", "name", "skipped", "tests", "time", "timestamp"),  # 5.1 before Python 3.8
    ("errors", "failures", "name", "skipped", "tests", "time"),  # 4.x, 5.0
    ("errors", "failures", "name", "skips", "tests", "time"),  # 3.x
)
_PLAYWRIGHT_ROOT = ("id", "name", "tests", "failures", "skipped", "errors", "time")
OWN_ROOT = "flake-report"
_GO_PROPERTIES = frozenset({"go.version", "goversion"})


def dialect_of(root: Mapping[str, str], suite: Mapping[str, str]) -> Dialect:
    """From the attributes of the root and of a suite, in the order in which they are written."""
    if root.get("name") == OWN_ROOT:
        return Dialect.OWN
    if suite.get("name") == "pytest" or tuple(suite) in _PYTEST_SUITES:
        return Dialect.PYTEST
    if tuple(root) == _PLAYWRIGHT_ROOT:
        return Dialect.PLAYWRIGHT
    return Dialect.OTHER


def is_go_property(name: str) -> bool:
    """Whether a suite's property of this name says that the suite is a Go package."""
    return name in _GO_PROPERTIES


def is_googletest(case: Mapping[str, str]) -> bool:
    """Only googletest writes whether a case was run at all."""
    return case.get("status") in ("run", "notrun") and ("result" in case or "value_param" in case or "time" in case)


def own_property(attributes: Mapping[str, str]) -> str:
    """A property of a case that this project wrote, as `name=value`; empty for another's."""
    name = attributes.get("name", "")
    if not name.startswith(f"{OWN_ROOT}."):
        return ""
    return f"{name.removeprefix(f'{OWN_ROOT}.')}={attributes.get('value', '')[:40]}"
