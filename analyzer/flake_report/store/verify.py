"""Does a store keep its promises: each is looked at in the stored rows themselves, by another way than they are read.

The statements are DuckDB's own, not those that count: a mistake in those must show here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from deltalake import DeltaTable

from flake_report.model.upkeep import Check

from .counting import Counting
from .delta import Files, files
from .duck import Duck
from .layout import TABLES
from .root import Root

_OF_JOBS = tuple(kind for kind in TABLES if kind not in ("builds", "jobs"))

_SHOWN = 20
"""Cases that are named of one broken promise."""


class Promise(NamedTuple):
    """What must hold, and a statement that answers one line a case where it does not; it is asked of each kind."""

    says: str
    query: str
    kinds: tuple[str, ...] = ("",)


_NEWEST = "(SELECT job, arg_max(ingest, commit_version) AS ingest FROM stored_jobs GROUP BY job)"

PROMISES = (
    Promise(
        "the job of every row exists",
        """
        SELECT DISTINCT '{kind}: job ' || r.job FROM stored_{kind} r
        WHERE NOT EXISTS (FROM stored_jobs j WHERE j.job = r.job)
        """,
        _OF_JOBS,
    ),
    Promise(
        "the build of every job exists",
        """
        SELECT DISTINCT 'jobs: build ' || concat_ws('/', j.org, j.pipeline, j.build) FROM stored_jobs j
        WHERE NOT EXISTS (
          FROM stored_builds b WHERE b.org = j.org AND b.pipeline = j.pipeline AND b.build = j.build
        )
        """,
    ),
    Promise(
        "a build lies in the week of its creation",
        """
        SELECT concat_ws(' ', 'builds: build', build, 'of', created_at, 'lies in', week) FROM stored_builds
        WHERE strftime(created_at, '%G-W%V') <> week
        """,
    ),
    Promise(
        "a row lies in the week of its job",
        """
        SELECT DISTINCT concat_ws(' ', '{kind}: job', r.job, 'of', j.week, 'has rows in', r.week)
        FROM stored_{kind} r JOIN stored_jobs j ON j.ingest = r.ingest
        WHERE j.week <> r.week
        """,
        _OF_JOBS,
    ),
    Promise(
        "each ingest of a job has a commit of its own",
        """
        SELECT concat_ws(' ', 'jobs: job', job, 'comes twice in commit', commit_version) FROM stored_jobs
        GROUP BY job, commit_version HAVING count(*) > 1
        UNION ALL
        SELECT concat_ws(' ', 'jobs: job', job, 'names a commit that is not there') FROM stored_jobs
        WHERE commit_version IS NULL OR commit_version NOT BETWEEN 1 AND {version}
        """,
    ),
    Promise(
        "of each job and each build one ingest is seen",
        """
        SELECT 'jobs: job ' || job FROM seen_jobs GROUP BY job HAVING count(*) > 1
        UNION ALL
        SELECT 'builds: build ' || concat_ws('/', org, pipeline, build) FROM seen_builds
        GROUP BY org, pipeline, build HAVING count(*) > 1
        """,
    ),
    Promise(
        "no superseded row is seen",
        """
        SELECT DISTINCT '{kind}: job ' || v.job FROM seen_{kind} v JOIN {newest} n ON n.job = v.job
        WHERE n.ingest <> v.ingest
        """,
        ("jobs", *_OF_JOBS),
    ),
    Promise(
        "no row that counts is missed",
        """
        SELECT DISTINCT '{kind}: job ' || r.job FROM stored_{kind} r JOIN {newest} n ON n.ingest = r.ingest
        WHERE NOT EXISTS (FROM seen_{kind} v WHERE v.ingest = r.ingest)
        """,
        ("jobs", *_OF_JOBS),
    ),
)


def verify(root: Root, table: DeltaTable) -> tuple[Check, ...]:
    """Every promise with what breaks it. Rows are looked at only where all files can be read."""
    found = files(root, table)
    whole = Check("every file of the log is there, with its bytes and rows", tuple(_damage(root, found)))
    if whole.broken:
        return (whole,)
    duck = _everything(found)
    return whole, *(Check(promise.says, tuple(_broken(duck, promise, table.version()))) for promise in PROMISES)


def _damage(root: Root, found: Files) -> Iterator[str]:
    duck = Duck()
    for kind, weeks in found.items():
        for file in (file for inside in weeks.values() for file in inside):
            size = root.size(file.name)
            if size is None:
                yield f"{file.name}: is missing"
                continue
            if size != file.size:
                yield f"{file.name}: has {size:,} bytes, the log says {file.size:,}"
                continue
            try:
                duck.show("one_file", kind, [file])
                rows = duck.answer("SELECT count(*) AS rows FROM one_file")["rows"][0].as_py()
            except Duck.damage as error:
                yield f"{file.name}: {str(error).partition(chr(10))[0]}"
                continue
            if rows != file.rows:
                yield f"{file.name}: has {rows:,} rows, the log says {file.rows:,}"


def _everything(found: Files) -> Duck:
    """All rows as `stored_<kind>`, and those that people see as `seen_<kind>`."""
    duck = Duck()
    counting = Counting(found, duck)
    for kind in TABLES:
        duck.show(f"stored_{kind}", kind, [file for inside in found.get(kind, {}).values() for file in inside])
        counting.table(kind).create_view(f"seen_{kind}")
    return duck


def _broken(duck: Duck, promise: Promise, version: int) -> Iterator[str]:
    for kind in promise.kinds:
        query = promise.query.format(kind=kind, version=version, newest=_NEWEST)
        yield from sorted(duck.answer(f"FROM ({query}) LIMIT {_SHOWN}").column(0).to_pylist())
