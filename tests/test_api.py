"""The public API gives the numbers of `show` as a frame."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

import flake_report
from flake_report import demo
from flake_report.cli import main
from flake_report.errors import FlakeReportError
from flake_report.report.history import COLUMNS


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("api")
    demo.write_history(folder / "archive")
    assert main(["ingest", str(folder / "archive"), "--store", str(folder / "store")]) == 0
    return str(folder / "store")


def test_a_frame_has_the_columns_of_the_export(store: str) -> None:
    assert list(flake_report.rates(store).columns) == list(COLUMNS)


def test_the_known_test_is_a_victim_and_not_flaky(store: str) -> None:
    frame = flake_report.rates(store, branch="main", test="test_fewer_blocks_with_hma", queue="gpu_1_queue")
    [row] = frame.to_dict("records")
    assert row["first_failures"] == 0
    assert row["victim_runs"] > 0
    assert row["env_rate"] == row["victim_runs"] / row["runs"]


def test_a_shorter_window_holds_fewer_runs(store: str) -> None:
    whole, week = flake_report.rates(store), flake_report.rates(store, since=timedelta(weeks=1))
    assert 0 < week["runs"].sum() < whole["runs"].sum()


def test_owners_come_from_patterns_and_else_from_codeowners(store: str) -> None:
    frame = flake_report.rates(
        store, owners={"*transfer_timeout*": "@kv"}, codeowners=("CODEOWNERS", "/tests/v1/core/ @core\n")
    )
    by_test = frame.drop_duplicates("test").set_index("test")["owner"]
    assert by_test["v1.kv_connector.unit.test_transfer_timeout::test_read_finishes_before_deadline"] == "@kv"
    assert by_test["v1.core.test_output_ranges::test_ranges_are_sorted"] == "@core"
    assert set(flake_report.rates(store)["owner"]) == {""}


def test_a_line_of_codeowners_that_cannot_be_read_is_a_warning(store: str) -> None:
    with pytest.warns(UserWarning, match="CODEOWNERS") as warned:
        flake_report.rates(store, codeowners=("CODEOWNERS", "!/docs/ @docs\n"))
    assert warned[0].filename == __file__


def test_a_store_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FlakeReportError, match="nowhere"):
        flake_report.rates(str(tmp_path / "nowhere"))


def test_importing_the_package_is_light() -> None:
    program = "import sys, flake_report; print(sorted({'pandas', 'numpy', 'duckdb', 'click'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="raets"):
        flake_report.raets  # noqa: B018  # the access is what is tested
