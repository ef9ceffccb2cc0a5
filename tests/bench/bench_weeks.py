"""How often a week without any change is called worse, and what changes are found: this test beside the exact one.

    python tests/bench/bench_weeks.py [--weeks 40] [--variants 5000]

Simulated fleets: a tenth of the variants fails, at 0.1 to 20 %; ten more go from 1 to 5 %, or to 20 %. Each line is one
kind of fleet: weeks before, runs a week, how much weeks differ. `exact` is Fisher's test with Benjamini and Hochberg's
rule over all variants, `testable` the same over those that Gilbert and Tarone's rule leaves, `ours` what is shown to
people. Under each: weeks in 100 with a false finding, false findings a week, and changes to 5 and to 20 % found in 100.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from flake_report.rate.multiplicity import found
from flake_report.rate.overdispersion import spread
from flake_report.rate.weektest import week_test

CHANGED = 10
Counts: TypeAlias = NDArray[np.int64]
Found: TypeAlias = NDArray[np.bool_]

SPREADS: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "none": lambda _, variants: np.zeros(variants),
    "ICC 0.01": lambda _, variants: np.full(variants, 0.01),
    "ICC 0.02": lambda _, variants: np.full(variants, 0.02),
    "half 0.02": lambda random, variants: np.where(random.random(variants) < 0.5, 0.02, 0.0),
    "tenth 0.05": lambda random, variants: np.where(random.random(variants) < 0.1, 0.05, 0.0),
}


def fleet(
    random: np.random.Generator, iccs: NDArray[np.float64], weeks: int, runs: int, changed: float | None
) -> Counts:
    """Failures of variants by weeks, the newest week first; the first ten variants change in it."""
    rates = np.where(random.random(len(iccs)) < 0.1, np.exp(random.uniform(np.log(0.001), np.log(0.2), len(iccs))), 0)
    rates = np.repeat(np.maximum(rates, 1e-12)[:, None], weeks + 1, axis=1)
    if changed is not None:
        rates[:CHANGED] = 0.01
        rates[:CHANGED, 0] = changed
    m = 1 / np.maximum(iccs, 1e-9)[:, None] - 1
    return random.binomial(runs, np.where(iccs[:, None] > 0, random.beta(rates * m, (1 - rates) * m), rates))


def tests(failures: Counts, runs: int) -> Iterator[tuple[str, Found]]:
    """What each test finds in one fleet, the least effect asked of all of them alike."""
    now, before, weeks = failures[:, 0], failures[:, 1:], failures.shape[1] - 1
    total = failures.sum(axis=1)
    exact = hypergeom.sf(now - 1, runs * (weeks + 1), total, runs)
    smallest = hypergeom.sf(np.minimum(total, runs) - 1, runs * (weeks + 1), total, runs)
    ran = np.full_like(before, runs)
    ours = week_test(now, ran[:, 0], before, ran, spread(before, ran))
    rate = before.mean(axis=1) / runs
    effect = (now >= 3) & (now / runs - rate >= 0.01) & (now / runs >= 2 * rate)
    yield "exact", found(exact, np.zeros_like(exact)) & effect
    yield "testable", found(exact, smallest) & effect
    yield "ours", found(ours.worse, ours.worse_smallest) & effect


def measured(weeks_before: int, runs: int, kind: str, weeks: int, variants: int) -> dict[str, list[float]]:
    """For each test: weeks with a false finding, false findings, and both powers; shares and means over the weeks."""
    random = np.random.default_rng(31)
    told: dict[str, list[list[float]]] = {"exact": [], "testable": [], "ours": []}
    for _ in range(weeks):
        iccs = SPREADS[kind](random, variants)
        rows: dict[str, list[float]] = {name: [] for name in told}
        for name, here in tests(fleet(random, iccs, weeks_before, runs, None), runs):
            rows[name] += [100 * float(here.any()), float(here.sum())]
        for changed in (0.05, 0.2):
            for name, here in tests(fleet(random, iccs, weeks_before, runs, changed), runs):
                rows[name].append(100 * float(here[:CHANGED].mean()))
        for name, row in rows.items():
            told[name].append(row)
    return {name: np.mean(each, axis=0).tolist() for name, each in told.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weeks", type=int, default=40)
    parser.add_argument("--variants", type=int, default=5000)
    parser.add_argument("--spread", choices=[*SPREADS], action="append")
    parser.add_argument("--before", type=int, action="append")
    arguments = parser.parse_args()
    columns = "  any false     ->5    ->20"
    print(
        f"{'before':>6} {'runs':>5} {'spread':<10}" + "".join(f" |{name:^26}" for name in ("exact", "testable", "ours"))
    )
    print(f"{'':>23}" + f" |{columns}" * 3)
    for before in arguments.before or (4, 12):
        for runs in (14, 100, 200, 500):
            for kind in arguments.spread or SPREADS:
                found_by = measured(before, runs, kind, arguments.weeks, arguments.variants)
                told = [f" |{a:5.0f} {b:5.2f} {c:7.0f} {d:6.0f}" for a, b, c, d in found_by.values()]
                print(f"{before:>6} {runs:>5} {kind:<10}" + "".join(told), flush=True)


if __name__ == "__main__":
    main()
