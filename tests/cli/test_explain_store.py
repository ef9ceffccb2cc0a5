"""`explain --store`: what other builds add to a GPU-memory failure, from archive to page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from flake_report import demo
from flake_report.cli import main

HMA = "v1/kv_connector/unit/test_nixl_connector_hma.py::test_fewer_blocks_with_hma[google/gemma-3-1b-it-512]"


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of the demo's history, and the log of its second known failure."""
    folder = tmp_path_factory.mktemp("known")
    demo.write_history(folder / "archive")
    raw = (folder / "archive" / demo.FAILED_JOB_LOGS[-1]).read_bytes()
    (folder / "build.log").write_bytes(zstandard.ZstdDecompressor().decompressobj().decompress(raw))
    assert main(["ingest", str(folder / "archive"), "--store", str(folder / "store")]) == 0
    return folder


def test_history_tells_since_when_and_how_often(run: Callable, known: Path) -> None:
    ran = run("explain", "--format", "json", "--store", known / "store", known / "build.log")
    [cause] = json.loads(ran.out)["logs"][0]["causes"]
    assert (ran.status, cause["test"], cause["diagnosis"]["kind"]) == (0, HMA, "undetermined")
    # The demo's plan: this test is a victim in five builds, this log's among them.
    assert cause["history"]["builds"] == 4
    assert cause["history"]["first_build"] == "1209"
    assert cause["history"]["sentence"].startswith("in 4 other builds, first 1209 on 2026-04-03, last ")


def test_the_page_has_a_line_of_history_only_where_a_store_was_asked(run: Callable, known: Path) -> None:
    assert "history  in 4 other builds" in run("explain", "--store", known / "store", known / "build.log").out
    assert "history" not in run("explain", known / "build.log").out


def test_without_a_store_the_key_is_null(run: Callable, red_log: Path) -> None:
    [cause] = json.loads(run("explain", "--format", "json", red_log).out)["logs"][0]["causes"]
    assert cause["history"] is None


def test_a_store_that_is_not_there_is_told_in_one_sentence(run: Callable, red_log: Path) -> None:
    ran = run("explain", "--store", "nowhere", red_log)
    assert ran.status == 2
    assert "nowhere: does not exist" in ran.err
