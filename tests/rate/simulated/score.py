"""How verdicts compare with the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from flake_report.model.rate import FlakeRate, Fleet, RunVerdict
from flake_report.model.verdict import TestVerdict
from flake_report.rate.rates import flake_rates

from .world import World


@dataclass(frozen=True)
class Score:
    """Counts over worlds. `called` tests were called flaky, `right` of them are; relanded regressions stand apart.

    `visible` flakes had a mixed build, or two failed ones on good code, and `found` of them were called flaky.
    `regressions` are tests that only bad commits broke, `excused` of them were called flaky; of `relanded` ones, where
    two bad commits or one that came twice said the same, `relanded_excused` were.
    """

    called: int = 0
    right: int = 0
    visible: int = 0
    found: int = 0
    regressions: int = 0
    excused: int = 0
    relanded: int = 0
    relanded_excused: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def precision(self) -> float:
        return self.right / self.called

    @property
    def recall(self) -> float:
        return self.found / self.visible


def score(world: World, fleet: Fleet, flaky: Sequence[bool]) -> Score:
    """What a rule said of one world."""
    called = np.array(flaky)
    truly = world.nature.flaky | world.spoilt
    broken = (world.nature.broken >= 0).any(axis=1)
    again = np.zeros(len(truly), dtype=bool)
    for commit in world.nature.commits:
        if commit.again:
            again[commit.tests] = True
    visible = truly & shows(world, fleet)
    regressions = broken & ~truly & ~again
    relanded = broken & ~truly & again
    return Score(
        called=int((called & ~relanded).sum()),
        right=int((called & truly).sum()),
        visible=int(visible.sum()),
        found=int((visible & called).sum()),
        regressions=int(regressions.sum()),
        excused=int((regressions & called).sum()),
        relanded=int(relanded.sum()),
        relanded_excused=int((relanded & called).sum()),
    )


def shows(world: World, fleet: Fleet) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which tests had, on good code, a run that both failed and passed, or two that failed."""
    seen = []
    for row, history in enumerate(fleet.histories):
        good = [run for run in history.runs if world.nature.broken[row, run.order] < 0]
        mixed = any(run.verdict is RunVerdict.FLAKY for run in good)
        seen.append(mixed or sum(run.verdict is RunVerdict.FAILED for run in good) >= 2)
    return np.array(seen)


def ours(fleet: Fleet) -> list[bool]:
    """The verdicts of this program."""
    called = {rate.variant: _flaky(rate) for rate in flake_rates(fleet, budget=0.005)}
    return [called[history.variant] for history in fleet.histories]


def _flaky(rate: FlakeRate) -> bool:
    return rate.verdict is TestVerdict.FLAKY or rate.also_flaky
