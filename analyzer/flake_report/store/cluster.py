"""Work on the executors of a Spark cluster: a function over parts of what there is to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from flake_report.errors import FlakeReportError

from .engine import master_of
from .spark import session

_Done = TypeVar("_Done")
_PER_CORE = 4
"""Parts for each core: where one is slow, or its worker dies, the others share what is left."""


def on_executors(engine: str, work: Callable[[Iterable[str]], _Done], names: Sequence[str]) -> list[_Done]:
    """What `work` makes of the names, some at a time, in their order; a part whose worker dies is worked on again.

    `work` and what it answers travel pickled, and its modules must be installed on the executors. What it raises as
    `FlakeReportError` is raised here.
    """
    running = session(master_of(engine)).sparkContext
    parts = min(len(names), running.defaultParallelism * _PER_CORE)

    def tried(some: Iterable[str]) -> Iterator[_Done | FlakeReportError]:
        try:
            yield work(some)
        except FlakeReportError as error:  # an exception would be tried four times, and come back as a long text
            yield error

    try:
        done = running.parallelize(names, parts).mapPartitions(tried).collect()
    except (PySparkException, Py4JError) as error:
        said = next((line for line in str(error).splitlines() if "Error: " in line), str(error).partition("\n")[0])
        raise FlakeReportError(
            f"spark on {running.master}: the work failed there ({said.strip()}); this flake-report and its extras must "
            "be installed on every worker"
        ) from error
    failed = next((one for one in done if isinstance(one, FlakeReportError)), None)
    if failed:
        raise failed
    return [one for one in done if not isinstance(one, FlakeReportError)]
