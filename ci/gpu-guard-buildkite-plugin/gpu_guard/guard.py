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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Optional

from . import leftovers, probe
from .budget import GIB, Verdict, Want
from .memory import Meter, NoMeter, open_briefly
from .memory.visible import HIDING
from .probe import Snapshot
from .profiles import Profile, ProfileError, pick
from .settings import exported
from .wait import REAL_TIME, Time, Waited, until_free

CONTENTION = 75
"""Exit status where memory is short: EX_TEMPFAIL of sysexits.h. `retry.automatic` can name it."""

WRONG = 2
"""Exit status of a wrong configuration: trying again would not help."""

SETTLING = 10.0
"""Seconds that are waited at the least where a leftover was ended: some drivers give its memory back late."""


@dataclass(frozen=True)
class Decision:
    """What comes of a check; the fields are told above."""

    exit_status: int
    sentences: tuple[str, ...] = ()
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
    open_meter: Callable[[Mapping[str, str]], Meter] = open_briefly,
    time: Time = REAL_TIME,
) -> Decision:
    """Decide.

    `min_free` is in GiB of each card, `wait` in seconds, `on_contention` refuse or warn, `on_no_gpu` refuse or pass.
    """
    try:
        chosen = None if profile is None else pick(profile, profiles_file)
    except ProfileError as error:
        return Decision(WRONG, tuple(error.mistakes))
    if chosen is not None and utilization is not None and chosen.floor is not None and utilization < chosen.floor:
        words = f"utilization {utilization} is below {chosen.floor}, the floor of profile {chosen.name!r}"
        return Decision(WRONG, (words,))
    free = round((min_free or 0.0) * GIB)
    want = Want(utilization, min_free=free) if chosen is None else chosen.want(utilization, free)
    asked = _Asked(chosen, profiles_file, want)
    meter = open_meter(environ)
    try:
        if not meter.devices:
            return _without_gpu(meter, asked, environ, refuse=on_no_gpu == "refuse")
        if meter.order_is_unsure:
            say("unlike GPUs: CUDA may count them otherwise than here; CUDA_DEVICE_ORDER=PCI_BUS_ID makes it sure")
        if clean_own_leftovers and leftovers.clean(environ, _holders(probe.take(meter)), say):
            wait = max(wait, SETTLING)
        waited = until_free(lambda: probe.take(meter), want, limit=wait, say=say, time=time)
    finally:
        meter.close()
    return _decided(waited, asked, environ, refuse=on_contention == "refuse")


def take(environ: Mapping[str, str] = os.environ) -> Optional[Snapshot]:
    """A snapshot of now; None where no GPU is visible, or its driver gives no reading."""
    meter = open_briefly(environ)
    try:
        return probe.take(meter) if meter.devices else None
    finally:
        meter.close()


class _Asked(NamedTuple):
    """What the pipeline asks for."""

    profile: Optional[Profile]
    file: Optional[Path]
    want: Want

    def settings(self, utilization: Optional[float]) -> dict[str, str]:
        return exported(self.profile, utilization, self.file)


def _decided(waited: Waited, asked: _Asked, environ: Mapping[str, str], *, refuse: bool) -> Decision:
    after = f" after {waited.seconds:.0f} s" if waited.seconds >= 1 else ""
    least = asked.want.ceiling if asked.want.floor is None else asked.want.floor
    anyway = Decision(CONTENTION) if refuse else Decision(0, settings=asked.settings(least))
    if waited.answer is None or waited.snapshot is None:
        return replace(anyway, sentences=(f"the GPU driver gives no reading{after}: the card may be lost",))
    verdict, utilization, sentence = waited.answer
    if verdict in (Verdict.USE, Verdict.LOWER):
        return Decision(0, (f"{sentence}{after}",), asked.settings(utilization), waited.snapshot)
    owners = leftovers.whose(environ, _holders(waited.snapshot))
    decision = Decision(WRONG) if verdict is Verdict.REFUSE else anyway
    sentences = (f"{sentence}{after}", *waited.snapshot.holders(), *owners)
    return replace(decision, sentences=sentences, before=waited.snapshot)


def _without_gpu(meter: Meter, asked: _Asked, environ: Mapping[str, str], *, refuse: bool) -> Decision:
    words = f"no GPU is visible here ({_reason(meter, environ)})"
    if not refuse:
        return Decision(0, (f"{words}: the job runs without one",), asked.settings(asked.want.ceiling))
    if isinstance(meter, NoMeter) and meter.broken:
        return Decision(CONTENTION, (f"{words}: the driver is there and fails; another agent may do",))
    return Decision(WRONG, (f"{words}: this step would silently run without one; on-no-gpu: pass lets it",))


def _reason(meter: Meter, environ: Mapping[str, str]) -> str:
    """What hides the devices that exist, or where one was looked for."""
    if not meter.seen:
        return meter.source
    hiding = " and ".join(f"{name}={environ[name]!r}" for name in HIDING if name in environ)
    return f"{meter.source} sees {meter.seen}, of which {hiding} leaves none"


def _holders(snapshot: Optional[Snapshot]) -> set[int]:
    devices = () if snapshot is None else snapshot.reading.devices
    return {holder.pid for device in devices for holder in device.holders or ()}
