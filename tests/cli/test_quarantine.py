"""`quarantine` end to end: written from the demo's history, applied by the recorder's own reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from gpu_guard.recorder.quarantine import read_quarantine

FLAKE = "v1.kv_connector.unit.test_transfer_timeout::test_read_finishes_before_deadline"
NODE = "v1/kv_connector/unit/test_transfer_timeout.py::test_read_finishes_before_deadline"


@pytest.fixture
def listed(run: Callable, home: Path, demo_store: Path) -> Path:
    assert run("quarantine", "known.json", "--store", demo_store).status == 0
    return home / "known.json"


def entries(file: Path) -> list[dict]:
    found: list[dict] = json.loads(file.read_text())["entries"]
    return found


def test_what_flakes_is_listed_with_its_evidence(listed: Path) -> None:
    today = datetime.now(UTC).date()
    assert {(one["test"], one["queue"]) for one in entries(listed)} == {(FLAKE, "amd_mi325_1"), (FLAKE, "gpu_1_queue")}
    for one in entries(listed):
        assert one["evidence"].startswith("https://buildkite.com/example/ci-simulated/builds/12")
        assert date.fromisoformat(one["expires"]) in {today + timedelta(days=30), today + timedelta(days=29)}


def test_the_recorder_excuses_what_is_listed_and_nothing_else(listed: Path) -> None:
    [entry] = [one for one in entries(listed) if one["queue"] == "gpu_1_queue"]
    environ = {"BUILDKITE_STEP_KEY": "kv-connectors", "BUILDKITE_AGENT_META_DATA_QUEUE": "gpu_1_queue"}
    applied = read_quarantine(listed, environ, datetime.now(UTC).date())
    assert applied.covers(NODE, entry["fingerprints"][0])
    assert not applied.covers(NODE, "0123456789abcdef")
    assert not applied.covers(NODE + "_too", entry["fingerprints"][0])


def test_an_entry_that_ran_out_is_named_and_comes_back_only_when_it_is_renewed(
    run: Callable, listed: Path, demo_store: Path
) -> None:
    text = listed.read_text()
    today = datetime.now(UTC).date()
    for day in (today + timedelta(days=30), today + timedelta(days=29)):
        text = text.replace(f'"expires": "{day}"', '"expires": "2020-01-01"')
    listed.write_text(text)
    ran = run("quarantine", "known.json", "--store", demo_store)
    assert ran.out.count("on 2020-01-01: it fails builds again") == 2
    assert "nothing is excused → known.json · 2 expired · 2 held back" in ran.out
    assert entries(listed) == []
    again = run("quarantine", "known.json", "--store", demo_store, "--dry-run", "--format", "json")
    told = json.loads(again.out)
    assert (told["file"], {one["fate"] for one in told["decisions"]}) == ("known.json (not written)", {"held back"})
    assert entries(listed) == []
    run("quarantine", "known.json", "--store", demo_store, "--renew", "--days", "7")
    assert len(entries(listed)) == 2


def test_a_file_of_something_else_is_left_alone(run: Callable, home: Path, demo_store: Path) -> None:
    (home / "known.json").write_text("{}")
    ran = run("quarantine", "known.json", "--store", demo_store)
    assert (ran.status, ran.out) == (2, "")
    assert "known.json: is no flake-quarantine/1 file" in ran.err
    assert (home / "known.json").read_text() == "{}"


def test_a_folder_is_no_list(run: Callable, home: Path, demo_store: Path) -> None:
    (home / "known.json").mkdir()
    ran = run("quarantine", "known.json", "--store", demo_store)
    assert ran.status == 2
    assert "known.json: cannot be read" in ran.err
