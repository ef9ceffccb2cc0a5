"""pytest's section headers and its last line, the runner's own counts."""

from __future__ import annotations

import re

_HEADER = re.compile(r"=+ (?P<name>\S(?:.*\S)?) =+$")
_COUNT = r"\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests \w+)"
_NONE = r"no tests ran|(?:\d+/)?\d+ tests? collected.*|no tests collected.*"
_LAST = re.compile(rf"(?:=+ )?(?P<counts>{_COUNT}(?:, {_COUNT})*|{_NONE}) in \d+\.\d\ds(?: \([\d:, day]+\))?(?: =+)?$")
_EACH = re.compile(r"(\d+) (\w+)")
_STARTS = "test session starts"
_SUMMARY = "short test summary info"


def is_start(text: str) -> bool:
    """`==== test session starts ====`, also behind a test's start line, where that test runs pytest itself."""
    return text.endswith("=") and f"= {_STARTS}" in text


def header(text: str) -> str | None:
    """The title of a `==== … ====` line."""
    found = _HEADER.match(text) if text.startswith("=") else None
    return found["name"] if found else None


def is_summary(name: str) -> bool:
    return name.startswith(_SUMMARY)


def counts(text: str) -> dict[str, int] | None:
    """The last line's counts by pytest's own words, singular: `1 failed, 2 passed in 0.10s`, with or without `=`."""
    found = _LAST.match(text) if " in " in text else None
    if found is None:
        return None
    return {
        name.rstrip("s") if name != "subtests" else name: int(count) for count, name in _EACH.findall(found["counts"])
    }
