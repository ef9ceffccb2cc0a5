"""What happens before a job's command: look at the GPUs, wait for memory, choose the settings. The hooks call this.

    decision = guard.check(profile="nixl-hma", utilization=None, min_free=None, wait=300, on_contention="refuse",
                           on_no_gpu="refuse", clean_own_leftovers=False, environ=os.environ)
    decision.exit_status   0 go on; 75 no memory (CONTENTION), worth a retry; 2 a wrong configuration (WRONG)
    decision.sentences     why, for the log, one a line; the first is the verdict
    decision.settings      variables to export before the command: GPU_GUARD_SET_*, and the profile's own
    decision.before        the snapshot (`probe.Snapshot`) that the verdict rests on; None where nothing was read

`check` takes options that were validated and never raises for what it finds. Progress goes line by line to `say`.
After the job, `take(environ)` is the same snapshot again, and `leftovers.of_job(environ)` the processes that
the job left behind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from . import probe
from .budget import GIB, Verdict, Want
from .memory import Meter, open_meter
from .probe import Snapshot
from .profiles import Profile, ProfileError, pick
from .settings import exported
from .wait import REAL_TIME, Time, Waited, until_free

CONTENTION = 75
"""Exit status where memory is short: EX_TEMPFAIL of sysexits.h. `retry.automatic` can name it."""

WRONG = 2
"""Exit status of a wrong configuration: trying again would not help."""


@dataclass(frozen=True)
class Decision:
    """What comes of a check; the fields are told above."""

    exit_status: int
    sentences: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    before: Optional[Snapshot] = None


def check(
    *,
    profile: Optional[str],
    utilization: Optional[float],
    min_free: Optional[float],
    wait: float,
    on_contention: str,
    on_no_gpu: str,
    clean_own_leftovers: bool,
    environ: Mapping[str, str] = os.environ,
    profiles_file: Optional[Path] = None,
    say: Callable[[str], None] = print,
    open_meter: Callable[[Mapping[str, str]], Meter] = open_meter,
    time: Time = REAL_TIME,
) -> Decision:
    """Decide. `min_free` is in GiB of each card, `wait` in seconds."""
    try:
        chosen = None if profile is None else pick(profile, profiles_file)
    except ProfileError as error:
        return Decision(WRONG, tuple(error.mistakes))
    if chosen is not None and utilization is not None and chosen.floor is not None and utilization < chosen.floor:
        words = f"utilization {utilization} is below {chosen.floor}, the floor of profile {chosen.name!r}"
        return Decision(WRONG, (words,))
    want = _want(chosen, utilization, min_free)
    meter = open_meter(environ)
    try:
        if not meter.devices:
            return _without_gpu(meter.source, chosen, want, on_no_gpu)
        waited = until_free(lambda: probe.take(meter), want, limit=wait, say=say, time=time)
    finally:
        meter.close()
    return _decided(waited, chosen, want, warn=on_contention == "warn")


def take(environ: Mapping[str, str] = os.environ) -> Optional[Snapshot]:
    """A snapshot of now; None where no GPU is visible, or its driver gives no reading."""
    meter = open_meter(environ)
    try:
        return probe.take(meter) if meter.devices else None
    finally:
        meter.close()


def _want(profile: Optional[Profile], utilization: Optional[float], min_free: Optional[float]) -> Want:
    free = round((min_free or 0.0) * GIB)
    return Want(utilization, min_free=free) if profile is None else profile.want(utilization, free)


def _without_gpu(source: str, profile: Optional[Profile], want: Want, on_no_gpu: str) -> Decision:
    words = f"no GPU is visible here ({source})"
    if on_no_gpu == "pass":
        return Decision(0, (f"{words}: the job runs without one",), exported(profile, want.ceiling))
    return Decision(WRONG, (f"{words}: this step would silently run without one; on-no-gpu: pass lets it",))


def _decided(waited: Waited, profile: Optional[Profile], want: Want, *, warn: bool) -> Decision:
    if waited.answer is None or waited.snapshot is None:
        return Decision(CONTENTION, ("the GPU driver gives no reading: the card may be lost",))
    verdict, utilization, sentence = waited.answer
    if verdict in (Verdict.USE, Verdict.LOWER):
        return Decision(0, (sentence,), exported(profile, utilization), waited.snapshot)
    after = f" after {waited.seconds:.0f} s" if waited.seconds >= 1 else ""
    sentences = (f"{sentence}{after}", *waited.snapshot.holders())
    if verdict is Verdict.REFUSE:
        return Decision(WRONG, sentences, {}, waited.snapshot)
    if warn:
        least = want.ceiling if want.floor is None else want.floor
        return Decision(0, sentences, exported(profile, least), waited.snapshot)
    return Decision(CONTENTION, sentences, {}, waited.snapshot)
