"""The counting statements in their order, whichever engine runs them, over the files of one state of the table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from flake_report.model.query import Pools, Query, of_test

from .asked import among, in_pools, of_pools, of_tests, where_run
from .bad import make_bad
from .columns import records, tuples
from .delta import Files
from .engine import Engine
from .growing import ANSWERED, COUNTED, FIRST, GROWING, HEALTH, HISTORIES, KEPT, PASSING, READ, SELECTING
from .histories import Counts
from .layout import TABLES
from .parts import Part, Span, cut
from .rollups import KEPT_ROWS, Rollups, answer_name, named, together
from .selection import Selection, in_weeks
from .sql import asks_for_tests, like, statement
from .takeover import of_one_week, taken_over


class Counting:
    """One look at a store: every statement sees the same state of it. Serves one question at a time.

    What a question needs and the one before it had, the selected jobs above all, is not made again.
    """

    def __init__(self, files: Files, engine: Engine, rollups: Rollups | None = None) -> None:
        """`rollups` join what was counted before; they work on DuckDB alone."""
        self._files = files
        self._engine = engine
        self._rollups = rollups
        self._selection = Selection(files, engine)

    def newest_build(self, branch: str | None) -> datetime | None:
        """When the newest build of the branch was created; None where there is none."""
        return self._selection.newest_build(branch)

    def select(self, query: Query, since: datetime | None = None) -> None:
        """Make the tables `builds` and `jobs`: what the query asks for, superseded rows left out."""
        self._selection.make(query, since)

    def counts(self, query: Query, since: Callable[[], datetime | None]) -> Counts:
        """What `histories` counts of what the query selects, or has counted. `since` is asked where it must count."""
        if found := self._remembered(query, HISTORIES, ANSWERED):
            return Counts(**found)
        if query.test and (recalled := self._recalled(replace(query, test=None), query.test)):
            return recalled
        self.select(query, since())
        parts = list(self._parts())
        counts = (None if query.test else self._alone(parts)) or self.histories(query.test, parts)
        self._engine.drop(PASSING)
        if query.test:
            return where_run(counts)
        self._remember(query, HISTORIES, {name: getattr(counts, name) for name in ANSWERED})
        return counts

    def _recalled(self, query: Query, test: str) -> Counts | None:
        """Of what was counted of all tests, these; None where it was not kept whole."""
        whole = self._remembered(query, HISTORIES, ("builds", "tests", "pool_names"))
        if not whole:
            return None
        tests = of_tests(whole["tests"], test)
        rows = self._remembered(query, HISTORIES, ("files", "streaks", "told"), keep=among("test", tests))
        if not rows:
            return None
        pools = self._remembered(query, HISTORIES, ("pools",), keep=among("pool", rows["files"]))
        found = {**whole, **rows, **pools, "tests": tests}
        return Counts(**found) if pools and together(found.values()) else None

    def health_of(self, query: Query, since: Callable[[], datetime | None]) -> pa.Table:
        """What `health` counts of what the query selects, whatever its tests, or has counted."""
        query = replace(query, test=None)
        if found := self._remembered(query, HEALTH, ("health",)):
            return found["health"]
        self.select(query, since())
        health = self.health()
        self._remember(query, HEALTH, {"health": health})
        return health

    def answer(
        self,
        query: Query,
        since: Callable[[], datetime | None],
        name: str,
        kinds: Sequence[str],
        pools: Pools | None = None,
    ) -> pa.Table:
        """What the statement of this name says of the jobs that the query selects, or has said.

        It reads `builds`, `jobs` and these kinds. A statement that asks for no test tells of all. With `pools`, of its
        rows those of these steps and queues; all others are kept, too, for who asks next.
        """
        query = query if asks_for_tests(name) else replace(query, test=None)
        first = FIRST.get(name, ())
        statements, reads = (*SELECTING, *first, name), ("builds", "jobs", *kinds)
        if found := self._remembered(query, statements, (name,), reads, in_pools(pools)):
            return of_pools(found[name], pools)
        self.select(query, since())
        for table in first:
            self._make(table)
        for kind in kinds:
            self._selection.show(kind, kind, self._selection.weeks)
        answer = self._engine.answer(statement(name, test=_asked("a", query.test)))
        if not query.test:
            self._remember(query, statements, {name: answer}, reads)
        return of_pools(answer, pools)

    def _make(self, table: str) -> None:
        """Make a table of the selected jobs that several statements may read, if the selection has none yet."""
        if table in self._selection.tables:
            return
        if table == "bad":
            make_bad(self._engine, self._selection, self._files, self._rollups)
        else:
            self._engine.make(table, statement(table))
        self._selection.tables.add(table)

    def _remembered(
        self,
        query: Query,
        statements: Sequence[str],
        tables: Sequence[str],
        reads: Sequence[str] = READ,
        keep: pc.Expression | None = None,
    ) -> dict[str, pa.Table]:
        return self._rollups.load(self._answer_name(query, statements, reads), tables, keep) if self._rollups else {}

    def _remember(
        self, query: Query, statements: Sequence[str], tables: dict[str, pa.Table], reads: Sequence[str] = READ
    ) -> None:
        attempts = self._files.get("attempts", {}).values()
        if self._rollups and sum(file.rows for week in attempts for file in week) >= KEPT_ROWS:
            self._rollups.keep_answer(self._answer_name(query, statements, reads), tables)

    def _answer_name(self, query: Query, statements: Sequence[str], reads: Sequence[str]) -> str:
        kinds = (self._files.get(kind, {}) for kind in reads)
        names = (file.name for weeks in kinds for week in weeks.values() for file in week)
        return answer_name(map(statement, statements), repr(query), names)

    def health(self) -> pa.Table:
        """What there is of the selected builds and jobs: one row, as `health.sql` says."""
        self._engine.begin("results", GROWING["results"])
        for part in self._parts():
            name = self._rollup(part, ("results",))
            if name and self._rollups and self._rollups.show(name, ("results",)):
                self._engine.add("results", "SELECT * FROM kept_results")
                continue
            self._selection.show("attempts", "attempts", part.weeks)
            self._engine.make("part_results", statement("results"))
            self._engine.add("results", "SELECT * FROM part_results")
            if name and self._rollups:
                self._rollups.keep(name, {"results": self._engine.answer("SELECT * FROM part_results")})
        return self._engine.answer(statement("health"))

    def _alone(self, parts: Sequence[Part]) -> Counts | None:
        """What was counted of a part that is all there is; None where it was not kept, or is of several weeks."""
        if len(parts) != 1 or not self._rollups or not (name := self._histories_of(parts[0])):
            return None
        kept = self._rollups.load(name, KEPT)
        return taken_over(kept, parts[0].base, self._selected()) if kept and of_one_week(kept) else None

    def histories(self, test: str | None, parts: Sequence[Part] | None = None) -> Counts:
        """The runs of the selected jobs, counted; `parts` are these jobs', where they are known already.

        Some weeks are counted at a time: memory holds their runs, and of the weeks before a row a variant and a row a
        run that needs telling.
        """
        engine = self._engine
        parts = list(self._parts()) if parts is None else parts
        for name in ("tests", "files", "streaks", "told"):
            engine.begin(name, GROWING[name])
        for part in parts:
            name = self._histories_of(part)
            if name and self._rollups and self._rollups.show(name, KEPT):
                self._join(part, test)
                continue
            self._count(part, test)
            if name and self._rollups and not test:
                base = str(part.base)
                tables = {kept: engine.answer(statement(f"keep_{kept}", base=base)) for kept in KEPT}
                self._rollups.keep(name, tables)
        if self._torn(parts):
            engine.make("pieces", "SELECT * FROM streaks")
            engine.make("streaks", statement("streaks"))
        return Counts(
            tests=engine.answer("SELECT * FROM tests ORDER BY test"),
            files=engine.answer("SELECT test, pool, max(file) AS file FROM files GROUP BY test, pool ORDER BY 1, 2"),
            streaks=engine.answer(statement("plain")),
            told=engine.answer("SELECT * FROM told ORDER BY test, pool, place"),
            **self._selected(),
        )

    def _selected(self) -> dict[str, pa.Table]:
        """The columns of `Counts` that are the same whatever ran in the selected jobs."""
        return {
            "builds": self._engine.answer("SELECT * FROM builds ORDER BY place"),
            "pool_names": self._engine.answer("SELECT * FROM pool_names"),
            "pools": self._engine.answer(statement("pools")),
        }

    def _histories_of(self, part: Part) -> str:
        """The name under which the histories of a part are kept; empty where they are not worth it."""
        return self._rollup(part, (*COUNTED, *(f"keep_{kept}" for kept in KEPT)))

    def _torn(self, parts: Sequence[Part]) -> bool:
        """Whether a week's builds were counted in several parts: their streaks are still to be joined.

        A build can lie in another week than it counts in, where it was told of again with another time of creation.
        """
        part_of = {week: at for at, part in enumerate(parts) for week in part.weeks}
        weeks = tuples(self._engine.answer("SELECT DISTINCT week, counted_week FROM jobs"), ("week", "counted_week"))
        met = {(counted_week, part_of[week]) for week, counted_week in weeks}
        return len(met) > len({week for week, _ in met})

    def _count(self, part: Part, test: str | None) -> None:
        """Count a part's attempts."""
        engine = self._engine
        self._selection.show("attempts", "attempts", part.weeks)
        engine.make("part_jobs", statement("part_jobs", weeks=in_weeks("week", part.weeks)))
        engine.make("paths", statement("paths"))
        all_known = engine.answer("SELECT count(*) AS numbers FROM tests")["numbers"][0].as_py() > 0 and not test
        if not all_known:
            self._number("met", test)
        engine.make("tried", statement("tried", numbered="a.name <> ''" if all_known else "t.test IS NOT NULL"))
        if all_known and engine.answer("SELECT test FROM tried WHERE test IS NULL LIMIT 1").num_rows:
            self._number("unnumbered", test)
            engine.add("tried", statement("numbered"))
        for name in ("runs", "pieces", "telling"):
            engine.make(name, statement(name))
        for name in ("files", "streaks", "told"):
            engine.make(f"part_{name}", statement(name))
            engine.add(name, f"SELECT * FROM part_{name}")  # noqa: S608 - names are our own

    def _number(self, met: str, test: str | None) -> None:
        """Give numbers to the tests that the statement `met` names and that have none."""
        self._engine.make("met", statement(met))
        self._engine.add("tests", statement("tests", test=_asked("m", test)))

    def _join(self, part: Part, test: str | None) -> None:
        """Take over what was counted of a part before, with the numbers that tests, pools and builds have here."""
        engine = self._engine
        engine.add("tests", statement("join_tests", test=_asked("m", test)))
        engine.make("numbers", statement("join_numbers"))
        for name in ("files", "streaks", "told"):
            engine.add(name, statement(f"join_{name}", base=str(part.base)))

    def _rollup(self, part: Part, statements: tuple[str, ...]) -> str:
        """The name of what these statements make of a part; empty where it is not worth keeping."""
        if self._rollups is None or not part.kept:
            return ""
        return named("", (*map(statement, statements), self._selection.digest(part.weeks, part.base)))

    def table(self, kind: str) -> Any:
        """One of the tables that people see; of each job and each build the rows of its last committed ingest."""
        self.select(Query())
        if kind not in ("builds", "jobs"):
            self._selection.show(f"stored_{kind}", kind)
        shown = ", ".join(f's."{column}"' for column in (*TABLES[kind], "week") if column != "commit_version")
        newest = (
            "QUALIFY row_number() OVER (PARTITION BY org, pipeline, build ORDER BY commit_version DESC, ingest) = 1"
            if kind == "builds"
            else "WHERE s.ingest IN (SELECT ingest FROM jobs)"
        )
        return self._engine.relation(f"SELECT {shown} FROM stored_{kind} s {newest}")  # noqa: S608 - names are our own

    def _parts(self) -> Iterator[Part]:
        """The weeks of the selected jobs, oldest first, in parts that the engine holds."""
        spans = self._engine.answer(
            "SELECT week, min(place) AS low, max(place) AS high FROM jobs GROUP BY week ORDER BY low"
        )
        rows = {week: sum(file.rows for file in held) for week, held in self._files.get("attempts", {}).items()}
        kept_from = KEPT_ROWS if self._rollups else math.inf
        at_once = self._engine.rows_at_once
        return cut((Span(**span) for span in records(spans)), rows, at_once=at_once, kept_from=kept_from)


def _asked(table: str, test: str | None) -> str:
    return like(f"({table}.classname || '::' || {table}.name)", of_test(test) if test else None)
