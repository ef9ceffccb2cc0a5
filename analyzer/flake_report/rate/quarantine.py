"""Which failures are excused: what flakes is listed for a while, what expired or healed is dropped.

Healed means that the passes since the last covered failure would be unlikely if the test still flaked as it did. With x
failures in n runs up to that one, the rate has the posterior Beta(x + 1/2, n − x + 1/2) (Jeffreys), and m passes in a
row have the probability

    E[(1 − p)^m] = B(x + 1/2, n − x + 1/2 + m) / B(x + 1/2, n − x + 1/2),

p integrated out; healed is where that is at most 5 %. For a rate that is well known this is ln 0.05 / ln(1 − p) passes,
for one that is not it is more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
from scipy.special import betaln

from flake_report.model.quarantine import Decided, Entry, Fate, Quarantine
from flake_report.model.rate import FlakeRate, History, Run, RunVerdict
from flake_report.model.results import TestId
from flake_report.model.verdict import TestVerdict

from .intervals import LEVEL
from .ways import FAILED, flaking


@dataclass(frozen=True, slots=True)
class Terms:
    """What new entries are made with: their first day, how long they hold, who owns a test, where a run is seen.

    `renew`: entries that ran out may come back.
    """

    today: date
    days: int
    owners: Mapping[TestId, str]
    link: Callable[[Run], str]
    renew: bool = False


def still_flaky(failures: int, runs: int, passes: int) -> float:
    """The probability of so many passes in a row at the rate of `failures` in `runs`, its uncertainty included."""
    x, n = failures + 0.5, runs - failures + 0.5
    return float(np.exp(betaln(x, n + passes) - betaln(x, n)))


def update(
    old: Quarantine, histories: Sequence[History], rates: Iterable[FlakeRate], terms: Terms
) -> tuple[Quarantine, tuple[Decided, ...]]:
    """The list made anew, and what became of each entry, in the order of the old list, new ones last."""
    decided = [_judged(entry, histories, terms.today) for entry in old.entries]
    lapsed = [one.entry for one in decided if one.fate is Fate.EXPIRED]
    lapsed += [entry for entry in old.lapsed if not healed(entry, histories)]
    found = _found(histories, rates, terms)
    for at, one in enumerate(decided):
        if one.fate is Fate.KEPT:
            decided[at] = replace(one, entry=_joined(one.entry, found))
    kept = [one.entry for one in decided if one.fate is Fate.KEPT]
    fresh = [entry for entry in (_uncovered(entry, kept) for entry in found) if entry.fingerprints]
    decided += [_admitted(entry, lapsed, terms) for entry in fresh]
    listed = (*kept, *(one.entry for one in decided if one.fate is Fate.ADDED))
    lapsed = [entry for entry in lapsed if not any(_speaks_of(entry, new) for new in listed)]
    return Quarantine(listed, tuple(lapsed)), tuple(decided)


def healed(entry: Entry, histories: Iterable[History]) -> str:
    """Why it is healed, in a few words; empty where it is not, or where no failure of it is in these histories."""
    told = [_healed(entry, history) for history in _of(entry, histories)]
    seen = [each for each in told if each is not None]
    return seen[0] if seen and all(seen) else ""


def _judged(entry: Entry, histories: Sequence[History], today: date) -> Decided:
    if why := healed(entry, histories):
        return Decided(entry, Fate.HEALED, why)
    if entry.expires < today:
        return Decided(entry, Fate.EXPIRED, f"on {entry.expires}")
    return Decided(entry, Fate.KEPT)


def _of(entry: Entry, histories: Iterable[History]) -> list[History]:
    return [one for one in histories if entry.holds_for(one.variant.test.label, one.variant.step, one.variant.queue)]


def _healed(entry: Entry, history: History) -> str | None:
    """Why one variant is healed; empty where it is not, None where no failure of it is covered."""
    failures = [run for run in history.runs if run.verdict in FAILED and run.fingerprint in ("", *entry.fingerprints)]
    if not any(run.fingerprint for run in failures):
        return None
    last = failures[-1].order
    passed = [run.order for run in history.runs if run.verdict is RunVerdict.PASSED]
    before = sum(order <= last for order in passed) + len([run for run in history.runs if _counts(run, last)])
    after = sum(order > last for order in passed)
    for streak in history.passes:  # no streak reaches over a told run
        if streak.first_order > last:
            after += streak.runs
        else:
            before += streak.runs
    if still_flaky(len(failures), before, after) > 1 - LEVEL:
        return ""
    return f"{after:,} passes since build {failures[-1].build}, after {len(failures):,} failures in {before:,} runs"


def _counts(run: Run, last: int) -> bool:
    return run.verdict in FAILED and run.order <= last


def _found(histories: Sequence[History], rates: Iterable[FlakeRate], terms: Terms) -> list[Entry]:
    """An entry for each variant that flakes now, and whose failures can be told from others."""
    by_variant = {history.variant: history for history in histories}
    entries = [_entry(rate, by_variant[rate.variant], terms) for rate in rates if rate.verdict is TestVerdict.FLAKY]
    merged: dict[tuple[str, str, str], Entry] = {}
    for entry in (one for one in entries if one is not None):
        place = (entry.test, entry.step, entry.queue)
        known = merged.get(place)
        merged[place] = _with_prints(known, entry.fingerprints) if known else entry  # sessions are not told apart
    return [entry for entry in merged.values() if not healed(entry, histories)]


def _entry(rate: FlakeRate, history: History, terms: Terms) -> Entry | None:
    flakes = flaking(rate, history)
    if not flakes:
        return None
    variant = rate.variant
    return Entry(
        test=variant.test.label,
        step=variant.step,
        queue=variant.queue,
        fingerprints=tuple(sorted({run.fingerprint for run in flakes})),
        reason=f"{rate.own.hits} of {rate.own.n} runs failed first; {rate.reason}",
        evidence=terms.link(flakes[-1]),
        owner=terms.owners.get(variant.test, ""),
        since=flakes[0].created_at.date(),
        expires=terms.today + timedelta(days=terms.days),
    )


def _speaks_of(entry: Entry, found: Entry) -> bool:
    """Whether an entry, which a person may have written with patterns, means the failure of a found one."""
    shared = set(entry.fingerprints) & set(found.fingerprints)
    return bool(shared) and entry.holds_for(found.test, found.step, found.queue)


def _joined(entry: Entry, found: Iterable[Entry]) -> Entry:
    """A kept entry with the further fingerprints that its test is now known to flake with.

    One that holds for more than a single test in a single place learns nothing: what is new in one would excuse all.
    """
    place = (entry.test, entry.step, entry.queue)
    alike = [new for new in found if (new.test, new.step, new.queue) == place and _speaks_of(entry, new)]
    return _with_prints(entry, [print_ for new in alike for print_ in new.fingerprints])


def _uncovered(found: Entry, kept: Iterable[Entry]) -> Entry:
    """A found entry with the fingerprints alone that no kept one covers already."""
    known = {
        print_
        for entry in kept
        if entry.holds_for(found.test, found.step, found.queue)
        for print_ in entry.fingerprints
    }
    return replace(found, fingerprints=tuple(print_ for print_ in found.fingerprints if print_ not in known))


def _with_prints(entry: Entry, more: Iterable[str]) -> Entry:
    return replace(entry, fingerprints=tuple(dict.fromkeys((*entry.fingerprints, *more))))


def _admitted(entry: Entry, lapsed: Iterable[Entry], terms: Terms) -> Decided:
    before = next((old for old in lapsed if _speaks_of(old, entry)), None)
    if before is None or terms.renew:
        return Decided(entry, Fate.ADDED)
    return Decided(entry, Fate.HELD_BACK, f"it ran out on {before.expires}")
