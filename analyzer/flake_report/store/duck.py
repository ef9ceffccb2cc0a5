"""The counting statements run by DuckDB, over the files that one state of the Delta table names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import duckdb
import pyarrow as pa

from flake_report.model.query import Glob, Query, contains, of_test

from .delta import Files
from .histories import Counts
from .layout import TABLES, file_schema
from .sql import like, moment, statement


class Counting:
    """One look at a store: every statement sees the same state of it. Serves one question, from one thread."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._connection = duckdb.connect(config={"python_enable_replacements": False})
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET preserve_insertion_order = false")
        self._show("stored_builds", "builds")

    def newest_build(self, branch: str | None) -> datetime | None:
        """When the newest build of the branch was created; None where there is none."""
        self._make("builds", statement("builds", branch=_branch(branch)))
        newest: datetime | None = self._answer("SELECT max(created_at) AS newest FROM builds")["newest"][0].as_py()
        return newest

    def select(self, query: Query, since: datetime | None = None) -> None:
        """Make the tables `builds` and `jobs`: what the query asks for, superseded rows left out."""
        self._make(
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
        self._make("jobs", statement("jobs", step=step, queue=queue))

    def health(self) -> pa.Table:
        """What there is of the selected builds and jobs: one row, as `health.sql` says."""
        self._connection.execute("CREATE TABLE results (ingest BIGINT, attempts BIGINT, unknown BIGINT)")
        for weeks in self._parts():
            self._show("attempts", "attempts", weeks)
            self._connection.execute(f"INSERT INTO results {statement('results')}")
        return self._answer(statement("health"))

    def histories(self, test: str | None) -> Counts:
        """The runs of the selected jobs, counted.

        Some weeks are counted at a time: memory holds their runs, and of the weeks before a row a variant and a row a
        run that needs telling.
        """
        execute = self._connection.execute
        for name, columns in _GROWING.items():
            execute(f"CREATE TABLE {name} ({columns})")
        asked = like("(m.classname || '::' || m.name)", of_test(test) if test else None)
        for weeks in self._parts():
            self._show("attempts", "attempts", weeks)
            execute(f"INSERT INTO tests BY NAME {statement('tests', test=asked)}")
            self._make("runs", statement("runs"))
            self._make("pieces", statement("pieces"))
            execute(f"INSERT INTO streaks BY NAME {statement('streaks')}")
            execute(f"INSERT INTO told BY NAME {statement('told')}")
        self._make("pieces", "SELECT * FROM streaks")
        self._make("whole_streaks", statement("streaks"))
        return Counts(
            tests=self._answer("SELECT * FROM tests ORDER BY test"),
            pools=self._answer("SELECT DISTINCT pool, step, queue FROM jobs"),
            streaks=self._answer("SELECT * FROM whole_streaks WHERE state < 2 ORDER BY test, pool, first_place"),
            told=self._answer("SELECT * FROM told JOIN builds USING (place) ORDER BY test, pool, place"),
        )

    def answer(self, name: str, kinds: Sequence[str]) -> pa.Table:
        """What the statement of this name says of the selected jobs; it reads `builds`, `jobs` and these kinds."""
        for kind in kinds:
            self._show(kind, kind)
        return self._answer(statement(name))

    def table(self, kind: str) -> duckdb.DuckDBPyRelation:
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
        return self._connection.sql(f"SELECT {shown} FROM stored_{kind} s {newest}")  # noqa: S608 - names are our own

    def _parts(self) -> Iterator[list[str]]:
        """The weeks of the selected jobs, oldest first, in parts that memory holds.

        Weeks whose builds interleave come together: a build's time of creation can contradict its number, or change
        between two ingests.
        """
        spans = self._answer("SELECT week, min(place) AS low, max(place) AS high FROM jobs GROUP BY week ORDER BY low")
        part: list[str] = []
        rows, reached = 0, -1
        for span in spans.to_pylist():
            here = sum(file.rows for file in self._files.get("attempts", {}).get(span["week"], ()))
            if part and span["low"] > reached and rows + here > _ROWS_AT_ONCE:
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
        paths = [file.path for week in (in_weeks if weeks is None else weeks) for file in in_weeks.get(week, ())]
        columns = ", ".join(f'"{column}"' for column in TABLES[kind])
        if paths:
            rows = self._connection.read_parquet(paths, filename=True, hive_partitioning=False, union_by_name=True)
        else:
            rows = self._connection.from_arrow(file_schema(kind).append(_FILE_NAME).empty_table())
        rows.project(f"{columns}, {_WEEK} AS week").create_view(view, replace=True)

    def _make(self, name: str, query: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS {query}")

    def _answer(self, query: str) -> pa.Table:
        return self._connection.sql(query).to_arrow_table()


_ROWS_AT_ONCE = 1_000_000  # attempts; more at once is no faster
_FILE_NAME = pa.field("filename", pa.string())
_WEEK = "regexp_extract(filename, '.*/week=([^/]*)/[^/]*$', 1)"
"""From the last folder: DuckDB's own partition columns would believe a `week=` higher up in the path."""
_GROWING = {
    "tests": "test BIGINT, classname TEXT, name TEXT, apart TEXT, session_key TEXT",
    "streaks": "test BIGINT, pool BIGINT, state INTEGER, first_place BIGINT, last_place BIGINT, runs BIGINT",
    "told": "test BIGINT, pool BIGINT, place BIGINT, verdict TEXT, first_failed BOOLEAN, retried BOOLEAN,"
    " recovered BOOLEAN, victim BOOLEAN, fingerprint TEXT, signature TEXT, agent TEXT, retry_type TEXT",
}
"""Tables that grow week by week; what a row means is said in the statement of the same name."""


def _branch(branch: str | None) -> str:
    return like("branch", Glob(branch) if branch else None)
