"""The store as the rest of the program sees it: made or opened, added to, asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Lock

import duckdb
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from flake_report.errors import FlakeReportError, reason
from flake_report.model.query import Pools, Query
from flake_report.model.rate import Fleet, History
from flake_report.model.record import IngestCounts, JobRecord
from flake_report.model.report import Health, Window
from flake_report.model.upkeep import Check, Compacted, StoreInfo, Vacuumed

from .columns import records
from .commit import Prepared, commit, in_batches, land
from .compaction import EVERY, Pile, compact, due, worthwhile
from .counting import Counting
from .delta import Files, create_or_open_table, files, open_table, unreadable
from .duck import Duck
from .engine import DEFAULT, Engine, maker
from .histories import Counts, fold
from .layout import TABLES
from .rollups import Rollups, sweep
from .root import Folder, Root, located
from .upgrade import upgrade
from .upkeep import RETENTION, info, vacuum
from .verify import verify
from .views import views
from .writer import Writer, writer


class Store:
    """A history of CI jobs in one folder. Any number of processes may add to it and read it at once.

    All questions to one object see one state: that of its making, or after its own last ingest.
    """

    def __init__(self, root: Root, table: DeltaTable, engine: Callable[[], Engine] = Duck) -> None:
        """Use `open` or `create_or_open`, which look at what is there first."""
        self._root = root
        self._table = table
        self._engine = engine
        self._asking = Lock()
        self._look: tuple[int, Counting, Engine] | None = None
        self._writer: Writer | None = None
        self._asked: Engine | None = None

    @classmethod
    def open(cls, path: str, engine: str = DEFAULT) -> Store:
        """The store at `path`. Raises `FlakeReportError` where there is none, or a newer one than this program's.

        `engine` is what counts: `duckdb`, `spark` on this machine, or `spark=MASTER`; upkeep is always DuckDB's.
        """
        root = located(path)
        table = open_table(root)
        return cls(root, table, maker(engine))

    @classmethod
    def create_or_open(cls, path: str) -> Store:
        """The store at `path`, made where nothing is yet; raises as `open` does where something else is."""
        root = located(path)
        return cls(root, create_or_open_table(root))

    @staticmethod
    def upgrade(path: str) -> tuple[str, ...]:
        """Make a store of an older layout one of today's; answers the steps that it took, none for one of today's."""
        return upgrade(located(path))

    @property
    def address(self) -> str:
        """The place of the store, as any process opens it."""
        return self._root.address

    def ingest(self, records: Iterable[JobRecord]) -> IngestCounts:
        """Add jobs, in commits of bounded size; all rows of a job appear together, and replace what it had before.

        What is committed stays when a later record fails. Small files are merged on the way (see `compaction`).
        Raises `FlakeReportError` where the store cannot be written.
        """
        counts: dict[str, int] = dict.fromkeys(TABLES, 0)
        builds: set[tuple[str, str, str]] = set()
        for batch in in_batches(records):
            done = commit(self._root, self._table, batch)
            for kind, rows in done.rows.items():
                counts[kind] += rows
            if done.version % EVERY == 0:
                self._compact(due(self._files()), across_weeks=False)
            builds |= {(record.build.org, record.build.pipeline, record.build.key) for record in batch}
        return IngestCounts(**{**counts, "builds": len(builds)})

    def land(self, prepared: Prepared) -> IngestCounts:
        """Add what others prepared, in one commit; see `commit`."""
        done = land(self._root, self._table, prepared)
        if done.version % EVERY == 0:
            self._compact(due(self._files()), across_weeks=False)
        return IngestCounts(**done.rows)

    @contextmanager
    def writing_beside(self) -> Iterator[None]:
        """What is kept of answers for the next time is written by a thread, and nobody waits for it before the end."""
        try:
            with writer() as self._writer:
                yield
        finally:
            self._writer = None

    def interrupt(self) -> None:
        """Stop the statement that another thread waits for, if one does; it fails there."""
        if self._asked:
            self._asked.interrupt()

    def fleet(self, query: Query) -> Fleet:
        """A history for each variant that the query selects, in order of variants, with their builds and pools."""
        return fold(self.counts(query))

    def counts(self, query: Query) -> Counts:
        """What `fleet` is made of, as the engine counted it: `histories.fold` makes it, and needs no store."""
        with self._counting() as counting:
            return counting.counts(query, lambda: _since(counting, query))

    def histories(self, query: Query) -> tuple[History, ...]:
        """The histories of `fleet`, alone."""
        return self.fleet(query).histories

    def health(self, query: Query) -> Health:
        """What there is of the builds and jobs that the query selects, whatever their tests."""
        with self._counting() as counting:
            (row,) = records(counting.health_of(query, lambda: _since(counting, query)))
        modes = {"all": row.pop("whole_jobs"), "failed": row.pop("failed_jobs")}
        return Health(**row, modes=tuple(mode for mode, jobs in modes.items() if jobs))

    def window(self, query: Query) -> Window:
        """The query's stretch of history with its beginning as a time."""
        with self._counting() as counting:
            return Window(_since(counting, query), query.until, query.branch)

    def answer(self, name: str, kinds: Sequence[str], query: Query, pools: Pools | None = None) -> pa.Table:
        """What one of the statements in `sql` says of the jobs that the query selects.

        Most ask for no test: then it is of all tests, whatever the query says of them.
        `kinds` are the tables that it reads beside `builds` and `jobs`; what a row of the answer means stands in it.
        With `pools`, of its rows those of these steps and queues.
        """
        with self._counting() as counting:
            return counting.answer(query, lambda: _since(counting, query), name, kinds, pools)

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        """One of `builds, jobs, attempts, matches, memory, engines`: rows that count, columns as in `layout`.

        It is read when it is used, and turns into what you work with: `.df()`, `.to_arrow_table()`, `.fetchall()`.

            failed = Store.open("store").table("attempts").filter("outcome = 'failed'")
            failed.aggregate("classname, name, count(*) AS failures").order("failures DESC").df()
        """
        if name not in TABLES:
            raise FlakeReportError(f"table {name}: unknown; the store has {', '.join(TABLES)}")
        duck = Duck()  # what a person does with a table is his to bound
        with self._answering(duck):
            found: duckdb.DuckDBPyRelation = Counting(self._files(), duck).table(name)
            return found

    def compact(self) -> Compacted:
        """Merge all small files, and leave out all rows that newer ingests replaced. Nobody else has to wait."""
        with self._reading():
            piles = worthwhile(self._files())
        return self._compact(piles, across_weeks=True)

    def vacuum(self, hours: int = RETENTION) -> Vacuumed:
        """Take away files that no commit has named, and rollups that nobody used, for so many hours; see `upkeep`."""
        with self._writing("cleaned"):
            files = vacuum(self._root, self._table, hours=hours)
        rollups = sweep(self._root.path, hours) if isinstance(self._root, Folder) else Vacuumed(0, 0)
        return Vacuumed(files.files + rollups.files, files.size + rollups.size)

    def verify(self) -> tuple[Check, ...]:
        """What the store promises, each promise with what breaks it."""
        with self._reading():
            return verify(self._root, self._table)

    def info(self) -> StoreInfo:
        """The store in numbers."""
        with self._reading():
            return info(self._root, self._table)

    def views(self, engine: str) -> tuple[str, ...]:
        """`CREATE VIEW` statements of the tables that people see, for an engine that reads Delta tables by itself."""
        return tuple(views(self._root.address, engine))

    def _compact(self, piles: Sequence[Pile], *, across_weeks: bool) -> Compacted:
        with self._reading(), self._writing("compacted"):
            return compact(self._root, self._table, piles, across_weeks=across_weeks)

    def _files(self) -> Files:
        return files(self._root, self._table)

    @contextmanager
    def _writing(self, done: str) -> Iterator[None]:
        try:
            yield
        except (OSError, DeltaError) as error:
            raise FlakeReportError(
                f"store {self._root}: cannot be {done} ({reason(error)}); its rows are safe, mend that and try again"
            ) from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """A file that is gone or damaged is the user's to mend."""
        try:
            yield
        except Duck.damage as error:
            raise unreadable(self._root, error) from error

    @contextmanager
    def _counting(self) -> Iterator[Counting]:
        """The look at the files of this state, for one question at a time; what one question made serves the next."""
        with self._asking:
            version = self._table.version()
            if self._look is None or self._look[0] != version:
                self._look = None  # the one before goes first: two would hold twice as much
                self._look = version, *self._looked()
            _, counting, engine = self._look
            with self._answering(engine):
                yield counting

    def _looked(self) -> tuple[Counting, Engine]:
        self._asked = engine = self._engine()
        found = self._files()
        rollups = None
        if isinstance(engine, Duck):
            engine.limit_memory(sum(file.rows for week in found.get("jobs", {}).values() for file in week))
            rollups = Rollups(self._root.path, engine, self._keep) if isinstance(self._root, Folder) else None
        return Counting(found, engine, rollups), engine

    def _keep(self, write: Callable[[], None]) -> None:
        if self._writer:
            self._writer.add(write)
        else:
            write()

    @contextmanager
    def _answering(self, engine: Engine) -> Iterator[None]:
        """A file that is gone or damaged is the user's to mend; after any error the look is taken anew."""
        look, self._look = self._look, None
        try:
            yield
            self._look = look
        except duckdb.OutOfMemoryException as error:
            raise FlakeReportError(
                f"store {self._root}: holds too much for one answer; ask for less, such as --since 4w or one step"
            ) from error
        except engine.damage as error:
            raise unreadable(self._root, error) from error


def _since(counting: Counting, query: Query) -> datetime | None:
    if not isinstance(query.since, timedelta):
        return query.since
    newest = counting.newest_build(query.branch)
    try:
        return newest - query.since if newest else None
    except OverflowError:  # further back than the calendar goes
        return None
