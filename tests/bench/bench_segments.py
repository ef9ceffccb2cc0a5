"""How fast histories are judged, and that their change points are those of the plain dynamic programme.

    .venv/bin/python tests/bench/bench_segments.py [--variants 50000] [--runs 1000] [--plain 12]

One variant in ten fails at times, at rates from 0.1 to 30 %, three in ten of those with a breakage of up to 200 runs.
All others passed in every build, alike, and so are judged as one. All that failed are cut; then comes what else `show`
does with them after counting. The plain programme tries every run as a cut, for a few of the same histories; the ratio
is by history that failed. Seconds are those of one core (process time).
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime, timedelta

import numpy as np

from flake_report.model.evidence import Build
from flake_report.model.rate import Fleet, History, Pool, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId
from flake_report.rate.likelihood import Likelihood
from flake_report.rate.partition import SPLIT
from flake_report.rate.pieces import counts
from flake_report.rate.rates import flake_rates
from flake_report.rate.segments import Parted, parted

MONDAY = datetime(2026, 3, 30, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--plain", type=int, default=12)
    given = parser.parse_args()
    fleet = made(given.variants, given.runs, np.random.default_rng(1))
    begun = time.process_time()
    parts = parted(fleet)
    cut = time.process_time() - begun
    flake_rates(fleet, budget=0.005, parts=parts)
    whole = time.process_time() - begun
    failing = [part for part in parts if any(piece.run for piece in part.runs)]
    print(f"{given.variants:,} variants of {given.runs:,} runs, {len(failing):,} with failures")
    print(f"segments {cut:.2f} s, with verdicts and intervals {whole:.2f} s")
    compare(failing[:: max(1, len(failing) // given.plain)][: given.plain], cut / len(failing), given.runs)


def compare(sample: list[Parted], each: float, runs: int) -> None:
    likelihood = Likelihood.up_to(runs)
    begun = time.process_time()
    plain = [best(part, likelihood) for part in sample]
    spent = (time.process_time() - begun) / len(sample)
    equal = sum(
        abs(found - worth(part, likelihood)) < 1e-9 * abs(found) for found, part in zip(plain, sample, strict=True)
    )
    print(f"plain dynamic programme: {spent / each:.0f} times as long; equal optimum in {equal} of {len(sample)}")


def best(part: Parted, likelihood: Likelihood) -> float:
    """The optimum over every cut."""
    (table,) = counts([part.runs])
    single = np.repeat(table > 0, table[1], axis=1)
    sums = np.concatenate([np.zeros((4, 1), dtype=np.int64), single.cumsum(axis=1)], axis=1)
    found = np.zeros(sums.shape[1])
    for end in range(1, len(found)):
        gained = found[:end] + likelihood.log(*(sums[:, [end]] - sums[:, :end]))
        gained[1:] += SPLIT
        found[end] = gained.max()
    return float(found[-1])


def worth(part: Parted, likelihood: Likelihood) -> float:
    """What the segments that were found are worth."""
    rows = [(each.first_failed, each.runs, each.failed_after_retry, each.retried) for each in part.segments]
    return float(likelihood.log(*np.array(rows).T).sum()) + SPLIT * (len(rows) - 1)


def made(variants: int, runs: int, random: np.random.Generator) -> Fleet:
    builds = tuple(
        Build("acme", "ci", str(at), at, f"c{at}", "main", "", MONDAY + timedelta(hours=4 * at), "passed")
        for at in range(runs)
    )
    weeks = np.array([build.week for build in builds])
    return Fleet(
        builds,
        (Pool("unit", "gpu_1", tuple(range(runs))),),
        tuple(history(at, builds, weeks, random) for at in range(variants)),
    )


def history(at: int, builds: tuple[Build, ...], weeks: np.ndarray, random: np.random.Generator) -> History:
    here = Variant(TestId("v1.test_bench", f"test_{at:06}"), "unit", "gpu_1", "")
    runs = len(builds)
    if random.random() > 0.1:
        return History(here, (), (Streak(0, runs - 1, runs),))
    failed = random.random(runs) < 10 ** random.uniform(-3, np.log10(0.3))
    if random.random() < 0.3:
        begin = int(random.integers(0, runs))
        failed[begin : begin + int(random.integers(1, 200))] = True
    told = tuple(
        Run(
            here,
            builds[order].key,
            order,
            builds[order].created_at,
            RunVerdict.FAILED,
            first_failed=True,
            fingerprint="f",
        )
        for order in np.flatnonzero(failed).tolist()
    )
    plain = np.flatnonzero(~failed)
    cuts = np.flatnonzero((np.diff(plain) > 1) | (weeks[plain[1:]] != weeks[plain[:-1]])) + 1
    streaks = (Streak(int(part[0]), int(part[-1]), len(part)) for part in np.split(plain, cuts) if len(part))
    return History(here, told, tuple(streaks))


if __name__ == "__main__":
    main()
