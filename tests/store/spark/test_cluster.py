"""What a cluster reads and counts is what one process reads and counts, row for row."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files as resources
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from flake_report import flow
from flake_report.cli import main
from flake_report.errors import FlakeReportError
from flake_report.model.query import Query
from flake_report.store import Store, selection
from flake_report.store.counting import Counting
from flake_report.store.delta import files
from flake_report.store.duck import Duck
from flake_report.store.engine import Engine, maker
from flake_report.store.layout import TABLES
from flake_report.store.sql import statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATEMENTS = sorted(
    file.name.removesuffix(".sql")
    for file in resources("flake_report.store.sql").iterdir()
    if file.name.endswith(".sql")
)
"""Every one that there is: a new statement is compared as soon as it lies there."""


def plain(value: object) -> object:
    return value.timestamp() if isinstance(value, datetime) else value


def rows(table) -> list[str]:
    return sorted(repr({name: plain(value) for name, value in row.items()}) for row in table.to_pylist())


def natural(store: Store, kind: str) -> list[str]:
    """The rows that people see, without what an ingest draws at random."""
    table = store.table(kind).to_arrow_table()
    return rows(table.drop_columns(["ingest"]))


def test_executors_read_an_archive_and_one_may_die(
    cluster: SimpleNamespace, archive: Path, by_hand: Store, warned: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "store"
    committed_at_kill: list[int] = []

    def kill() -> None:
        until = time.monotonic() + 90
        while not any(path.glob("kind=attempts/*/*.parquet")) and time.monotonic() < until:
            time.sleep(0.01)
        committed_at_kill.append(len(list((path / "_delta_log").glob("*.json"))))
        cluster.kill_a_worker()

    killer = threading.Thread(target=kill)
    killer.start()
    seen: list[None] = []
    warnings: list[str] = []
    counts = flow.ingest(
        str(archive),
        str(path),
        flow.signature_table(),
        warnings.append,
        lambda: seen.append(None),
        engine=cluster.engine,
    )
    killer.join()

    assert committed_at_kill == [1]  # the table was made, and nothing else was committed when the worker died
    store = Store.open(str(path))
    assert {kind: natural(store, kind) for kind in TABLES} == {kind: natural(by_hand, kind) for kind in TABLES}
    assert store.info().version == 1  # all in one commit
    assert [check for check in store.verify() if check.broken] == []
    assert len(seen) == counts.jobs == by_hand.info().tables["jobs"].rows
    assert counts.builds == by_hand.info().tables["builds"].rows
    assert sorted(warnings) == sorted(warned) != []


def looked_at(store: Store, engine: Engine) -> Iterator[tuple[str, list[str]]]:
    """What each statement answers of all that is stored and counted, by the tables that they make of each other."""
    counting = Counting(files(store._root, store._table), engine)  # noqa: SLF001 - the engine is what is tried
    counting.select(Query())
    counting.histories(None)
    counting.health()
    found = files(store._root, store._table)  # noqa: SLF001
    for kind in TABLES:
        every = [file for inside in found.get(kind, {}).values() for file in inside]
        engine.show(f"stored_{kind}", kind, every)
        if kind not in ("builds", "jobs"):
            engine.show(kind, kind, every)
    for name in STATEMENTS:
        if name.startswith("newest_"):
            engine.make(name, statement(name))
        elif name.startswith("keep_"):
            engine.make(f"kept_{name.removeprefix('keep_')}", statement(name, base="0"))
    engine.make("numbers", statement("join_numbers"))
    for name in ("bad", "order_jobs"):
        engine.make(name, statement(name))
    for name in STATEMENTS:
        yield name, rows(engine.answer(statement(name, base="0")))


def test_every_statement_answers_the_same_on_both_engines(cluster: SimpleNamespace, by_hand: Store) -> None:
    expected = dict(looked_at(by_hand, Duck()))
    assert sum(map(bool, expected.values())) > len(STATEMENTS) * 2 // 3  # there is something to compare
    for name, answered in looked_at(by_hand, maker(cluster.engine)()):
        assert answered == expected[name], name


ODD = Query(branch="ma?n", queue=r"it's \ 100% _", step="*'*", until=datetime(2026, 5, 1, tzinfo=UTC))
SOME = Query(branch="m*", queue="gpu", until=datetime(2026, 5, 1, tzinfo=UTC))


@pytest.mark.parametrize(("query", "some"), [(ODD, False), (SOME, True)], ids=["odd characters", "patterns"])
def test_conditions_mean_the_same_on_both_engines(
    query, some, cluster: SimpleNamespace, by_hand: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "_FEW", 1)  # also those by which jobs are sought in a large store
    answered = []
    for engine in (Duck(), maker(cluster.engine)()):
        counting = Counting(files(by_hand._root, by_hand._table), engine)  # noqa: SLF001 - the engine is what is tried
        counting.select(query, datetime(2026, 4, 8, tzinfo=UTC))
        answered.append([rows(engine.answer(f"SELECT * FROM {name}")) for name in ("builds", "jobs")])  # noqa: S608
    assert answered[1] == answered[0]
    assert bool(answered[0][1]) is some


def test_show_is_the_same_on_both_engines(
    cluster: SimpleNamespace, by_hand: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for engine in ("duckdb", cluster.engine):
        assert main(["show", "--store", by_hand.address, "--format", "json", "--engine", engine]) == 0
        shown.append(json.loads(capsys.readouterr().out))
    assert shown[1] == shown[0]


def test_a_persons_tables_show_the_rows_that_count(
    cluster: SimpleNamespace, by_hand: Store, capfd: pytest.CaptureFixture[str]
) -> None:
    """The README's example, on this cluster and store."""
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```py\n(.*?)```", readme, flags=re.DOTALL)
    master = cluster.engine.removeprefix("spark=")
    here = example.replace("spark://host:7077", master).replace("flake-report-store", by_hand.address)
    names: dict[str, SparkSession] = {}
    exec(here, names)  # noqa: S102 - as a reader would
    printed = capfd.readouterr().out
    shown = re.findall(r"^\|(\S+) *\|(\d+) *\|$", printed, flags=re.MULTILINE)
    counted = by_hand.table("attempts").filter("outcome = 'failed'").aggregate("name, count(*)").order("name")
    assert [(name, int(failures)) for name, failures in shown] == counted.fetchall() != []
    for kind in TABLES:
        assert names["spark"].table(kind).count() == len(natural(by_hand, kind))


def test_a_file_that_is_gone_is_named_in_one_sentence(cluster: SimpleNamespace, archive: Path, tmp_path: Path) -> None:
    path = tmp_path / "store"
    one = next(path for path in sorted(archive.glob("*/*/*")) if path.is_dir())
    flow.ingest(str(one), str(path), flow.signature_table(), lambda _: None, lambda: None)
    next(path.glob("kind=jobs/*/*.parquet")).unlink()
    with pytest.raises(FlakeReportError) as caught:
        Store.open(str(path), cluster.engine).histories(Query())
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"store {path}: cannot be read (")
    assert ".parquet" in str(caught.value)


def test_a_source_without_results_is_said_on_the_driver(cluster: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FlakeReportError, match="holds no builds and no result files"):
        flow.ingest(
            str(tmp_path / "empty"),
            str(tmp_path / "store"),
            flow.signature_table(),
            lambda _: None,
            lambda: None,
            engine=cluster.engine,
        )


@pytest.mark.parametrize("name", ["Spark", "spark=", "sparkle", "duckdb=x", "spark=nonsense", "spark=spark://host"])
def test_a_name_that_is_no_engine_is_refused_at_once(name: str, by_hand: Store) -> None:
    with pytest.raises(FlakeReportError) as caught:
        Store.open(by_hand.address, name)
    assert str(caught.value) == (
        f"engine {name}: unknown; there are duckdb, spark, and spark=MASTER such as spark=spark://host:7077"
    )


UNANSWERED = """An error occurred while calling None.org.apache.spark.sql.classic.SparkSession.
: java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.
This stopped SparkContext was created at:

\tat java.base/java.lang.Thread.run(Thread.java:840)
"""
"""What Spark 4.3 says when it has looked for a master for a minute."""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (UNANSWERED, "no master answered there"),
        (
            "An error occurred.\n: org.apache.spark.SparkException: Could not parse Master URL: 'x'\n\tat A.b(C:1)\n",
            "Could not parse Master URL: 'x'",
        ),
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited.", "Java gateway process exited"),
    ],
    ids=["no master", "thrown", "no Java"],
)
def test_why_spark_does_not_start_is_said_in_its_own_words(error: str, said: str) -> None:
    pytest.importorskip("pyspark", reason="pyspark is absent")
    from flake_report.store.spark import why_not

    assert why_not(error) == said


def test_without_java_it_is_one_sentence(by_hand: Store, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pyspark is absent")
    for tool in ("bash", "dirname", "env", "ps"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or "/bin/true")
    command = [sys.executable, "-m", "flake_report", "show", "--store", by_hand.address, "--engine", "spark"]
    bare = {"PATH": str(tmp_path), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run(command, env=bare, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "flake-report: spark on this machine: cannot be had "
        "(Java gateway process exited before sending its port number); check the master and Java"
    )
