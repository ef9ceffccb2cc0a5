"""Which builds and jobs a question is about: the tables that all other statements read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pyarrow.compute as pc

from flake_report.model.query import Glob, Query, contains

from .columns import values
from .delta import Files
from .engine import Engine
from .rollups import digest
from .sql import like, moment, quoted, statement

_FEW = 3
"""Where one of so many rows of jobs is asked for, or fewer, it is quicker to look for these jobs among the others."""


class Selection:
    """The tables `builds`, `pool_names` and `jobs` of one engine, and views of the rows that belong to them.

    What the question before had selected is not selected again.
    """

    def __init__(self, files: Files, engine: Engine) -> None:
        self._files = files
        self._engine = engine
        self._made: Query | None = None
        self._newest: dict[str | None, datetime | None] = {}
        self._shown: dict[str, tuple[str, Sequence[str] | None]] = {}
        self.weeks: list[str] = []
        """The weeks in which the rows of the selected jobs lie."""
        self.tables: set[str] = set()
        """What else was made of the selected jobs; it goes with them."""
        self._digests: dict[tuple[str, ...], str] = {}

    def newest_build(self, branch: str | None) -> datetime | None:
        """When the newest build of the branch was created; None where there is none."""
        if branch not in self._newest:
            self.show("stored_builds", "builds")
            builds = _builds(Query(branch=branch), None)
            newest = self._engine.answer(f"SELECT max(created_at) AS newest FROM ({builds}) found")  # noqa: S608 - ours
            (self._newest[branch],) = values(newest["newest"])
        return self._newest[branch]

    def make(self, query: Query, since: datetime | None) -> None:
        """Select what the query asks for from `since` on, superseded rows left out."""
        asked = replace(query, test=None, since=since)
        if asked == self._made:
            return
        engine = self._engine
        self._made = None
        engine.drop(tuple(self.tables))
        self.tables.clear()
        self._digests.clear()
        self.show("stored_builds", "builds")
        engine.make("builds", _builds(query, since))
        self.show("stored_jobs", "jobs")
        if query.branch or since or query.until:
            self._choose()
        else:
            engine.make("newest_jobs", statement("newest_jobs"))
        engine.make("pool_names", statement("pool_names"))
        step = like("j.step", contains(query.step) if query.step else None)
        queue = like("j.queue", contains(query.queue) if query.queue else None)
        engine.make("jobs", statement("jobs", step=step, queue=queue))
        engine.drop(("asked_jobs", "newest_jobs"))
        self.weeks = engine.answer("SELECT DISTINCT week FROM jobs ORDER BY week")["week"].to_pylist()
        self._made = asked

    def digest(self, weeks: Sequence[str], base: int) -> str:
        """What tells the selected jobs whose rows lie in these weeks from all others; `base` is their first place."""
        if (named := tuple(weeks)) not in self._digests:
            self._digests[named] = digest(
                self._engine.answer(
                    f"SELECT ingest, place - {base} AS place, week_number FROM jobs"  # noqa: S608 - all are our own
                    f" WHERE {in_weeks('week', weeks)} ORDER BY ingest"
                )
            )
        return self._digests[named]

    def show(self, view: str, kind: str, weeks: Sequence[str] | None = None) -> None:
        """A view of one kind's rows in these weeks, or in all of them."""
        if self._shown.get(view) == (kind, weeks):
            return
        self._shown[view] = kind, weeks
        in_weeks = self._files.get(kind, {})
        chosen = in_weeks if weeks is None else weeks
        self._engine.show(view, kind, [file for week in chosen for file in in_weeks.get(week, ())])

    def _choose(self) -> None:
        """Make `newest_jobs` where not all builds are asked for, and show the jobs of their weeks alone from then on.

        A job may have come again in any build, but never in a commit before the first that told of it: only later ones
        are looked through, and of a recent window most files are not even read. Where few jobs are asked for, these
        alone are sought there.
        """
        engine = self._engine
        met = engine.answer(statement("asked_weeks"))
        weeks = met["week"].to_pylist()
        limits: dict[str, str] = {}
        if weeks:
            asked = pc.sum(met["jobs"]).as_py()
            limits["commits"] = f"commit_version >= {pc.min(met['oldest']).as_py()}"
            later = engine.answer(f"SELECT count(*) AS jobs FROM stored_jobs WHERE {limits['commits']}")  # noqa: S608 - ours
            if asked * _FEW <= later["jobs"][0].as_py():
                engine.make("asked_jobs", statement("asked_jobs", weeks=in_weeks("j.week", weeks)))
                limits["asked"] = "job IN (SELECT job FROM asked_jobs)"
        engine.make("newest_jobs", statement("newest_jobs", **limits))
        self.show("stored_jobs", "jobs", weeks)


def _builds(query: Query, since: datetime | None) -> str:
    """What answers the builds that the query asks for, from `since` on."""
    return statement(
        "builds",
        branch=like("branch", Glob(query.branch) if query.branch else None),
        since=moment("created_at", ">=", since),
        until=moment("created_at", "<", query.until),
    )


def in_weeks(column: str, weeks: Sequence[str]) -> str:
    """A condition: rows lie in one of these weeks, of which there is at least one."""
    return f"{column} IN ({', '.join(map(quoted, weeks))})"
