"""The counting statements in their order, whichever engine runs them, over the files of one state of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from flake_report.model.query import Glob, Query, contains, of_test

from .delta import Files
from .engine import Engine
from .histories import Counts
from .layout import TABLES
from .sql import like, moment, statement


class Counting:
    """One look at a store: every statement sees the same state of it. Serves one question, from one thread."""

    def __init__(self, files: Files, engine: Engine) -> None:
        self._files = files
        self._engine = engine
        self._show("stored_builds", "builds")

    def newest_build(self, branch: str | None) -> datetime | None:
        """When the newest build of the branch was created; None where there is none."""
        self._engine.make("builds", statement("builds", branch=_branch(branch)))
        newest: datetime | None = self._engine.answer("SELECT max(created_at) AS newest FROM builds")["newest"][
            0
        ].as_py()
        return newest

    def select(self, query: Query, since: datetime | None = None) -> None:
        """Make the tables `builds` and `jobs`: what the query asks for, superseded rows left out."""
        self._engine.make(
            "builds",
            statement(
                "builds",
                branch=_branch(query.branch),
                since=moment("created_at", ">=", since),
                until=moment("created_at", "<", query.until),
            ),
        )
        self._show("stored_jobs", "jobs")
        step = like("j.step", contains(query.step) if query.step else None)
        queue = like("j.queue", contains(query.queue) if query.queue else None)
        self._engine.make("jobs", statement("jobs", step=step, queue=queue))

    def health(self) -> pa.Table:
        """What there is of the selected builds and jobs: one row, as `health.sql` says."""
        self._engine.begin("results", GROWING["results"])
        for weeks in self._parts():
            self._show("attempts", "attempts", weeks)
            self._engine.add("results", statement("results"))
        return self._engine.answer(statement("health"))

    def histories(self, test: str | None) -> Counts:
        """The runs of the selected jobs, counted.

        Some weeks are counted at a time: memory holds their runs, and of the weeks before a row a variant and a row a
        run that needs telling.
        """
        engine = self._engine
        for name in ("tests", "streaks", "told"):
            engine.begin(name, GROWING[name])
        asked = like("(m.classname || '::' || m.name)", of_test(test) if test else None)
        for weeks in self._parts():
            self._show("attempts", "attempts", weeks)
            engine.add("tests", statement("tests", test=asked))
            engine.make("runs", statement("runs"))
            engine.make("pieces", statement("pieces"))
            engine.add("streaks", statement("streaks"))
            engine.add("told", statement("told"))
        engine.make("pieces", "SELECT * FROM streaks")
        engine.make("streaks", statement("streaks"))
        return Counts(
            builds=engine.answer("SELECT * FROM builds ORDER BY place"),
            tests=engine.answer("SELECT * FROM tests ORDER BY test"),
            pools=engine.answer(statement("pools")),
            streaks=engine.answer(statement("plain")),
            told=engine.answer("SELECT * FROM told ORDER BY test, pool, place"),
        )

    def answer(self, name: str, kinds: Sequence[str]) -> pa.Table:
        """What the statement of this name says of the selected jobs; it reads `builds`, `jobs` and these kinds."""
        for kind in kinds:
            self._show(kind, kind)
        return self._engine.answer(statement(name))

    def table(self, kind: str) -> Any:
        """One of the tables that people see; of each job and each build the rows of its last committed ingest."""
        self.select(Query())
        if kind not in ("builds", "jobs"):
            self._show(f"stored_{kind}", kind)
        shown = ", ".join(f's."{column}"' for column in (*TABLES[kind], "week") if column != "commit_version")
        newest = (
            "QUALIFY row_number() OVER (PARTITION BY org, pipeline, build ORDER BY commit_version DESC, ingest) = 1"
            if kind == "builds"
            else "WHERE s.ingest IN (SELECT ingest FROM jobs)"
        )
        return self._engine.relation(f"SELECT {shown} FROM stored_{kind} s {newest}")  # noqa: S608 - names are our own

    def _parts(self) -> Iterator[list[str]]:
        """The weeks of the selected jobs, oldest first, in parts that the engine holds.

        Weeks whose builds interleave come together: a build's time of creation can contradict its number, or change
        between two ingests.
        """
        spans = self._engine.answer(
            "SELECT week, min(place) AS low, max(place) AS high FROM jobs GROUP BY week ORDER BY low"
        )
        part: list[str] = []
        rows, reached = 0, -1
        for span in spans.to_pylist():
            here = sum(file.rows for file in self._files.get("attempts", {}).get(span["week"], ()))
            if part and span["low"] > reached and rows + here > self._engine.rows_at_once:
                yield part
                part, rows = [], 0
            part.append(span["week"])
            rows += here
            reached = max(reached, span["high"])
        if part:
            yield part

    def _show(self, view: str, kind: str, weeks: Sequence[str] | None = None) -> None:
        """A view of one kind's rows in these weeks, or in all of them."""
        in_weeks = self._files.get(kind, {})
        chosen = in_weeks if weeks is None else weeks
        self._engine.show(view, kind, [file for week in chosen for file in in_weeks.get(week, ())])


_TEXT, _INT, _FLAG = pa.string(), pa.int64(), pa.bool_()
GROWING = {
    "results": pa.schema({"ingest": _INT, "attempts": _INT, "unknown": _INT}),
    "tests": pa.schema({"test": _INT, **dict.fromkeys(("classname", "name", "apart", "session_key", "file"), _TEXT)}),
    "streaks": pa.schema(
        {
            **dict.fromkeys(("test", "pool"), _INT),
            "week": _TEXT,
            "state": pa.int32(),
            **dict.fromkeys(("first_place", "last_place", "runs"), _INT),
        }
    ),
    "told": pa.schema(
        {
            **dict.fromkeys(("test", "pool", "place"), _INT),
            "verdict": _TEXT,
            **dict.fromkeys(("first_failed", "retried", "recovered", "victim"), _FLAG),
            **dict.fromkeys(("fingerprint", "signature", "agent", "job", "retry_type"), _TEXT),
        }
    ),
}
"""Tables that grow week by week; what a row means is said in the statement of the same name."""


def _branch(branch: str | None) -> str:
    return like("branch", Glob(branch) if branch else None)
