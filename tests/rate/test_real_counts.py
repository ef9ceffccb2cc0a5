"""Intervals and steadiness on counts of real tests: FlakeFlagger's 10,000 runs of each, iDoFT's batches."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from flake_report.rate.intervals import clopper_pearson_low, jeffreys
from flake_report.rate.steadiness import unsteady

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "rates"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real rates is not at hand")


@pytest.fixture(scope="module")
def flakeflagger() -> tuple[np.ndarray, np.ndarray]:
    """Failures and runs of the tests that both failed and passed."""
    with (CORPUS / "flakeflagger.csv").open(encoding="utf-8", newline="") as file:
        rows = [(int(row["NumFailingRuns"]), int(row["NumPassingRuns"])) for row in csv.DictReader(file)]
    failed, passed = np.array(rows).T
    flaky = (failed > 0) & (passed > 0)
    return failed[flaky], (failed + passed)[flaky]


@pytest.mark.parametrize("runs", [50, 200, 1000])
def test_from_a_part_of_its_runs_the_rate_of_a_test_is_held_as_often_as_the_level_says(runs, flakeflagger) -> None:
    """What all its runs say is taken for the truth, and some of them, drawn without putting back, for what is seen."""
    failed, total = flakeflagger
    random = np.random.default_rng(20261130)
    held, above = [], []
    for _ in range(10):
        seen = random.hypergeometric(failed, total - failed, runs)
        low, high = jeffreys(seen, runs)
        held.append(np.mean((low <= failed / total) & (failed / total <= high)))
        above.append(np.mean(clopper_pearson_low(seen, runs) > failed / total))
    assert len(failed) == 811
    assert 0.93 <= np.mean(held) <= 0.98  # above 97 % at 50 runs: most rates are so low that nothing is seen to fail
    assert np.mean(above) <= 0.025


@pytest.fixture(scope="module")
def idoft() -> list[tuple[np.ndarray, np.ndarray, bool]]:
    """Failures and runs of each batch of each test, and whether its authors' own test found that batches differ."""
    with (CORPUS / "idoft_batches.csv").open(encoding="utf-8", newline="") as file:
        return [
            (
                np.array(re.findall(r"\d+", row["Number Of Test Failures In Test Suite"]), dtype=np.int64),
                np.array(re.findall(r"\d+", row["Number Of Test Runs In Test Suite"]), dtype=np.int64),
                row["Is P-Value Less Or Greater Than 0.05"] == "less",
            )
            for row in csv.DictReader(file)
        ]


def test_tests_whose_batches_differ_are_flagged_and_the_others_not(idoft) -> None:
    """Where there are more than three failures; that is where the plain chi-square table can be trusted."""
    told = [(unsteady(failed, runs) < 0.05, differs) for failed, runs, differs in idoft if failed.sum() > 3]
    assert len(told) > 60
    assert {differs for _, differs in told} == {True, False}
    assert all(flagged == differs for flagged, differs in told)


def test_failures_that_came_one_a_batch_are_no_bout_whatever_the_plain_chi_square_says(idoft) -> None:
    """One failure falls into some batch: with 20 batches of 100 and one of 2,000, into a small one half of the time."""
    alone = [(failed, runs, differs) for failed, runs, differs in idoft if failed.max() == 1]
    assert sum(differs for _, _, differs in alone) > 10
    assert not any(unsteady(failed, runs) < 0.05 for failed, runs, _ in alone)
