"""Cases held as objects or packed: what comes back is what was given, in order."""

from __future__ import annotations

import pytest

from flake_report.parse import limits
from flake_report.parse.junit_case import Case, Part, Suite
from flake_report.parse.junit_dialect import Dialect
from flake_report.parse.junit_held import Entry, Held
from flake_report.parse.junit_simple import Run, Simple

ENTRIES: list[Entry] = [
    Suite(1, "pytest", "h", "", 3, Dialect.PYTEST),
    Case("m", "a", "m.py", "1.5", "", "f", (Part("failure", "boom", "", "E boom", "", ""),), "", ()),
    Run('<testcase classname="m" name="b" time="1" />', ("classname", "name", "time"), 1),
    Simple("s", ("m", "c", "1", "skipped", "", "why", None, None, None, None, None), ("classname", "name", "time")),
]


@pytest.mark.parametrize("copies", [1, 3, 5, 40, 400])
def test_as_many_come_back_as_were_given_in_order(copies: int) -> None:
    held = Held()
    for number in range(copies):
        for entry in ENTRIES:
            held.add(entry._replace(name=f"{number}") if isinstance(entry, Case) else entry, limits.HELD_BLOCK // 7)
    back = list(held)
    assert [entry.name for entry in back if isinstance(entry, Case)] == [str(number) for number in range(copies)]
    assert back[::4] == [ENTRIES[0]] * copies
    assert [(run.text, run.keys, run.cases) for run in back[2::4]] == [(ENTRIES[2].text, ENTRIES[2].keys, 1)] * copies
    assert back[3::4] == [ENTRIES[3]] * copies
    held.clear()
    assert list(held) == []
