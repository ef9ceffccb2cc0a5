"""Spark, for histories that one machine does not hold: the same statements over the same files.

Spark is given the list of files from Delta's log, as DuckDB is, and needs no package but `pyspark`: `delta-spark` 4.4
declares Spark up to 4.2 alone and brings its jars from Maven, which a cluster need not reach. A file that a compaction
replaced in the meantime is still there for a day, so a long question sees one state to its end.

The executors read the files themselves: a folder must lie on a file system that all of them share; for a bucket the
cluster needs Hadoop's connector (`s3a`, `gs`, `abfss`), as for any table there.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from flake_report.errors import FlakeReportError

from .counting import Counting
from .delta import DataFile, files, open_table
from .layout import TABLES, file_schema
from .root import located

SETTINGS = {
    "spark.sql.ansi.enabled": "true",  # an overflow is an error, as in DuckDB, and never a null
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",  # "commit" is a column
    "spark.sql.parser.escapedStringLiterals": "true",  # a backslash in a text is one
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
"""What makes Spark read the statements as DuckDB does."""

_ROWS_OF_A_PART = 500_000


def session(master: str) -> SparkSession:
    """The session of this process on a cluster, `spark://HOST:PORT` or any other that Spark knows; made where none is.

    An empty name takes the cluster of Spark's own settings, else this machine. Raises `FlakeReportError` where there
    is no such cluster.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("flake-report").config("spark.ui.showConsoleProgress", "false")
    quiet = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # on pandas, which no statement comes near
            return (quiet.master(master) if master else quiet).getOrCreate()
    except (PySparkException, Py4JError) as error:
        where = master or "this machine"
        said = why_not(str(error))
        raise FlakeReportError(f"spark on {where}: cannot be had ({said}); check the master and Java") from error


def why_not(error: str) -> str:
    """What an error of Spark's start comes to: Java's exception is its second line, Python's own its last."""
    lines = error.strip().splitlines()
    thrown = next((line for line in lines if line.startswith(": ")), lines[-1])
    if "stopped SparkContext" in thrown:  # which it stopped by itself, as the log alone says
        return "no master answered there"
    return re.sub(r"^(?:.*?Exception:|\[\w+\])\s*", "", thrown).rstrip(".")


class UnreadableFileError(OSError):
    """An executor could not read a file: it is gone, damaged, or the cluster lacks what opens such addresses."""


class Spark:
    """Names of its own in a shared session; see `Engine` for what it can do."""

    rows_at_once = sys.maxsize  # it spills by itself: week after week would only make more jobs
    damage: tuple[type[Exception], ...] = (UnreadableFileError,)

    def __init__(self, running: SparkSession) -> None:
        self.session = running.newSession()
        for name, value in SETTINGS.items():
            self.session.conf.set(name, value)
        self._spread(0)
        self._held: list[DataFrame] = []
        weakref.finalize(self, _release, self._held)

    def show(self, view: str, kind: str, files: Sequence[DataFile]) -> None:
        if kind == "attempts":  # the one kind that decides how much there is to shuffle
            self._spread(sum(file.rows for file in files))
        schema = file_schema(kind).append(pa.field("week", pa.string()))
        if files:
            base = files[0].path.rsplit("/", 3)[0]
            read = self.session.read.schema(from_arrow_schema(schema)).option("basePath", _for_hadoop(base))
            with _as_unreadable():
                rows = read.parquet(*(_for_hadoop(file.path) for file in files)).select(*schema.names)
        else:
            rows = self._empty(schema)
        rows.createOrReplaceTempView(view)

    def make(self, name: str, query: str) -> None:
        self._keep(name, self.session.sql(query))

    def begin(self, name: str, schema: pa.Schema) -> None:
        self._empty(schema).createOrReplaceTempView(name)

    def add(self, name: str, query: str) -> None:
        before = self.session.table(name)
        added = self.session.sql(query)
        typed = [f.col(field.name).cast(field.dataType).alias(field.name) for field in before.schema.fields]
        self._keep(name, before.unionByName(added.select(*typed)))

    def drop(self, names: Sequence[str]) -> None:
        """Nothing: the tables that came of these may be computed from them once more."""

    def answer(self, query: str) -> pa.Table:
        with _as_unreadable():
            return self.session.sql(query).toArrow()

    def interrupt(self) -> None:
        self.session.sparkContext.cancelAllJobs()

    def relation(self, query: str) -> DataFrame:
        return self.session.sql(query)

    def _spread(self, rows: int) -> None:
        """Shuffle in as many parts as there is work for: Spark's own 200 cost a small history minutes."""
        parts = max(self.session.sparkContext.defaultParallelism, rows // _ROWS_OF_A_PART)
        self.session.conf.set("spark.sql.shuffle.partitions", str(parts))

    def _keep(self, name: str, rows: DataFrame) -> None:
        """Computed once, as several statements read it; what a lost executor held is computed again.

        To the statements that follow it is a leaf: with all that it was made from in each of their plans, planning
        would take longer than the work.
        """
        kept = rows.persist()
        self._held.append(kept)
        java: Any = kept._jdf  # noqa: SLF001 - pyspark has no public name for it
        leaf = self.session._jsparkSession.internalCreateDataFrame(  # noqa: SLF001
            java.queryExecution().toRdd(),
            java.schema(),
            False,  # noqa: FBT003 - Java knows no names
        )
        DataFrame(leaf, self.session).createOrReplaceTempView(name)

    def _empty(self, schema: pa.Schema) -> DataFrame:
        typed = [f.lit(None).cast(field.dataType).alias(field.name) for field in from_arrow_schema(schema).fields]
        return self.session.range(0, numPartitions=1).select(*typed)


def session_with_tables(path: str, master: str = "") -> SparkSession:
    """A session in which a store's `builds, jobs, attempts, matches, memory, engines` are views, to be asked.

        spark = session_with_tables("flake-report-store", "spark://host:7077")
        spark.sql("SELECT name, count(*) AS failures FROM attempts WHERE outcome = 'failed' GROUP BY name").show()

    They show the rows that count in the store's newest state, columns as in `layout`.
    """
    root = located(path)
    found = files(root, open_table(root))
    engine = Spark(session(master))
    counting = Counting(found, engine)
    for kind, rows in [(kind, counting.table(kind)) for kind in TABLES]:
        rows.createOrReplaceTempView(kind)
    return engine.session


def _release(held: list[DataFrame]) -> None:
    for rows in held:
        rows.unpersist()


@contextmanager
def _as_unreadable() -> Iterator[None]:
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if found := _UNREADABLE.search(str(error)):
            raise UnreadableFileError(found[0]) from error
        raise


_UNREADABLE = re.compile(
    r"\[(?:FAILED_READ_FILE|PATH_NOT_FOUND)[^\n]*|ClassNotFoundException: Class org.apache.hadoop.fs[^\n]*"
    r"|No FileSystem for scheme[^\n]*"
)


def _for_hadoop(path: str) -> str:
    """A file as Hadoop knows it: patterns in its name mean themselves, and S3 has its own scheme."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", re.sub("^s3://", "s3a://", path))
