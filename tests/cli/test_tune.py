"""`tune` end to end, on the demo's history: the two known failures, each at its setting."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("home")

HMA = "test_fewer_blocks_with_hma"


def test_the_known_failures_and_what_other_settings_would_have_done(run: Callable, demo_store: Path) -> None:
    ran = run("tune", "--store", demo_store, "--test", HMA, "--queue", "gpu_1_queue", "--try", "0.25")
    assert ran.status == 0
    rows = [[cell.strip() for cell in line.split("|")[1:5]] for line in ran.out.splitlines() if line.startswith("|")]
    assert rows[0] == ["setting", "asks GiB", "4.51 free", "10.93 free"]
    assert rows[2:] == [
        ["0.5", "11.02", "refused", "refused"],
        ["0.47", "10.36", "refused", "starts"],
        ["0.3", "6.62", "refused", "starts"],
        ["0.25", "5.51", "refused", "starts"],
        ["0.2", "4.41", "starts", "starts"],
    ]
    assert "0.2 is the largest that would have passed every failure seen, which is not yet safe" in ran.out


def test_the_numbers_for_programs(run: Callable, demo_store: Path) -> None:
    ran = run("tune", "--store", demo_store, "--budget", "5%", "--format", "json")
    tunings = json.loads(ran.out)["tunings"]
    assert [one["queue"] for one in tunings if HMA in one["test"]] == ["gpu_1_queue", "amd_mi325_1"]
    first = tunings[0]
    assert (first["advised"], first["current"], first["budget"]) == (0.2, 0.3, 0.05)
    assert first["fit"] == "certified"
    assert {round(one["free"] / 2**30, 2): one["mirrored"] for one in first["refusals"]} == {10.93: True, 4.51: False}


def test_what_was_never_refused_is_shown_when_it_is_asked_for(run: Callable, demo_store: Path) -> None:
    assert "5 more were never refused; --all shows all" in run("tune", "--store", demo_store).out
    assert "none refused" in run("tune", "--store", demo_store, "--all").out


def test_a_history_without_engines_says_so(run: Callable, results: Path) -> None:
    assert run("ingest", results).status == 0
    ran = run("tune")
    assert (ran.status, ran.out.count("no start of an engine")) == (1, 1)


@pytest.mark.parametrize(
    "wrong", [["--budget", "half"], ["--budget", "0"], ["--try", "0"], ["--try", "1.5"]], ids=" ".join
)
def test_what_is_no_share_is_refused(run: Callable, demo_store: Path, wrong: list[str]) -> None:
    ran = run("tune", "--store", demo_store, *wrong)
    assert ran.status == 2
    assert "Traceback" not in ran.err
