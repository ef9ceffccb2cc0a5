"""From the recorder's files to a name: who left the memory, in `show`, in its JSON and in the export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

import gpu_guard

SCHEMA = json.loads(Path(gpu_guard.__file__).with_name("attempts.schema.json").read_text(encoding="utf-8"))
GIB = 2**30
TOTAL = 22 * GIB
REFUSED = (
    "ValueError: Free memory on device cuda:0 (10.98/22.0 GiB) on startup is less than desired GPU memory "
    "utilization (0.5, 11.0 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)


@pytest.fixture
def recorded(home: Path, run: Callable) -> None:
    """Three builds of one job; in the second, test_a leaves 10.5 GiB and test_v misses them."""
    for build in (1, 2, 3):
        leaks = build == 2
        left = round(11 * GIB) if leaks else round(0.5 * GIB)
        day = f"2026-11-{build:02}T06:"
        session = {
            "schema": "gpu-guard-attempts/1", "job": "", "session": f"s{build}", "started_at": f"{day}00:00Z",
            "command": "pytest v1", "host": "h", "pid": 7, "python": "3.11", "pytest": "8.3",
            "devices": [{"index": 0, "name": "L4", "total_bytes": TOTAL}],
        }  # fmt: skip
        lines: list[dict] = [session]
        for at, (name, before, after) in enumerate([("a", GIB // 2, left), ("b", left, left), ("v", left, left)]):
            failed = leaks and name == "v"
            memory = {"device": 0, "at_before": f"{day}0{at}:00Z", "at_after": f"{day}0{at}:30Z"}
            memory |= {"free_before": TOTAL - before, "free_after": TOTAL - after}
            attempt = {
                "nodeid": f"v1/test_x.py::test_{name}", "attempt": 0, "position": at, "pid": 7, "seconds": 1.0,
                "outcome": "failed" if failed else "passed", "phase": "call", "started_at": f"{day}0{at}:00Z",
                "memory": [memory], "message": REFUSED if failed else "",
            }  # fmt: skip
            lines.append(attempt)
        lines.append({"finished_at": f"{day}10:00Z", "exit_status": int(leaks)})
        for line in lines:
            jsonschema.validate(line, SCHEMA)
        job = home / "results" / f"build-{build}" / "kv"
        job.mkdir(parents=True)
        (job / f"attempts-kv-s{build}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("ingest", "results").status == 0


@pytest.mark.usefixtures("recorded")
def test_the_test_that_left_the_memory_is_named(run: Callable) -> None:
    told = json.loads(run("show", "--format", "json").out)
    [place] = told["culprits"]
    assert (place["culprit"], place["basis"], place["incidents"], place["jobs"]) == (
        "v1.test_x::test_a",
        "samples",
        1,
        3,
    )
    assert place["suspects"][0]["left"] == round(10.5 * GIB)
    [incident] = told["incidents"]
    assert incident["culprit"] == "v1.test_x::test_a"


@pytest.mark.usefixtures("recorded")
def test_the_name_stands_in_the_text_and_in_the_export(run: Callable, home: Path) -> None:
    assert "v1.test_x::test_a left 10.50 GiB, measured by the recorder in 1 incident" in run("show").out
    assert run("export", "report").status == 0
    exported = json.loads((home / "report" / "report.json").read_text())
    assert exported["culprits"][0]["culprit"] == "v1.test_x::test_a"
    assert set(exported["cost"]) >= {"failed_hours", "retry_hours", "money", "losses"}


@pytest.mark.usefixtures("home")
def test_prices_turn_hours_into_money(run: Callable, demo_store: Path) -> None:
    shown = run("show", "--store", demo_store, "--format", "json")
    assert json.loads(shown.out)["cost"]["money"] is None
    Path("flake-report.toml").write_text("[queues.gpu_1_queue]\ngpus = 1\nprice_per_hour = 2.0\n")
    cost = json.loads(run("show", "--store", demo_store, "--format", "json").out)["cost"]
    [mine] = [one for one in cost["losses"] if one["name"] == "gpu_1_queue"]
    assert mine["money"] == pytest.approx(2 * (mine["failed_hours"] + mine["retry_hours"]))
    assert cost["money"] == pytest.approx(mine["money"])
