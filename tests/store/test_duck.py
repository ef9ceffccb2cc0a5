"""DuckDB in bounds: what it may hold in memory, and what it leaves behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from flake_report.errors import FlakeReportError
from flake_report.model.query import Query
from flake_report.store import duck
from flake_report.store.duck import Duck


@pytest.fixture
def filled(store, make):
    store.ingest([make.record(make.build(1), make.job(), *(make.attempt(f"t{at}") for at in range(2_000)))])
    return store


def test_memory_is_that_of_the_history_and_not_of_the_machine() -> None:
    engine = Duck()
    engine.limit_memory(4_000_000)
    (limit,) = engine.answer("SELECT current_setting('memory_limit') AS set_to")["set_to"].to_pylist()
    assert limit == "696.1 MiB", "130 MB, and 600 for four million jobs"


def test_what_needs_more_than_that_is_one_sentence_with_advice(filled, monkeypatch) -> None:
    monkeypatch.setattr(duck, "_LEAST", 1)
    with pytest.raises(FlakeReportError, match="holds too much for one answer; ask for less, such as --since 4w"):
        filled.fleet(Query())


LONG = """
import signal
from flake_report.store.duck import Duck

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have it ignored
engine = Duck()
print("begun", flush=True)
try:
    engine.answer("SELECT sum(range * range) AS answer FROM range(20000000000)")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interruption_is_what_it_is_everywhere() -> None:
    """DuckDB tells of it as of an error of its own, which would be called a bug."""
    with subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True) as asked:
        assert asked.stdout is not None
        assert asked.stdout.readline() == "begun\n"
        time.sleep(0.5)
        asked.send_signal(signal.SIGINT)
        assert asked.communicate(timeout=60)[0] == "interrupted\n"
    assert asked.returncode == 0


def test_what_does_not_fit_is_put_aside_and_taken_away_again(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(duck, "_LEAST", 40)
    engine = Duck()
    engine.limit_memory(0)
    engine.make("wide", "SELECT range AS n, repeat(md5(range::TEXT), 4) AS text FROM range(1000000)")
    aside = list(tmp_path.glob("flake-report-*"))
    assert len(aside) == 1
    assert engine.answer("SELECT count(*) AS n FROM wide")["n"].to_pylist() == [1_000_000]
    del engine
    assert [path for path in aside if Path(path).exists()] == []
