"""The attempts that failed, which several statements ask for: each week's are read once, and kept beside the store.

What failed in a week follows from its files alone, which never change. So it is kept under a digest of their names, and
is found again by every question, whatever jobs that selects. Rows of superseded ingests are among them, as they are
among the attempts: who reads the table joins the jobs that count.
"""

from __future__ import annotations

from .delta import DataFile, Files
from .engine import Engine
from .growing import GROWING
from .rollups import KEPT_ROWS, Rollups, named
from .selection import Selection
from .sql import statement


def make_bad(engine: Engine, selection: Selection, files: Files, rollups: Rollups | None) -> None:
    """Make the table `bad` of the weeks of the selected jobs."""
    engine.begin("bad", GROWING["bad"])
    rest: list[str] = []
    for week in selection.weeks:
        held = files.get("attempts", {}).get(week, [])
        if rollups is None or sum(file.rows for file in held) < KEPT_ROWS:
            rest.append(week)
        elif rollups.show(name := _name(held), ("bad",)):
            engine.add("bad", "SELECT * FROM kept_bad")
        else:
            selection.show("attempts", "attempts", [week])
            engine.make("part_bad", statement("bad"))
            engine.add("bad", "SELECT * FROM part_bad")
            rollups.keep(name, {"bad": engine.answer("SELECT * FROM part_bad")})
    engine.drop(("part_bad",))
    if rest:
        selection.show("attempts", "attempts", rest)
        engine.add("bad", statement("bad"))


def _name(held: list[DataFile]) -> str:
    return named("bad-", (statement("bad"), *sorted(file.name for file in held)))
