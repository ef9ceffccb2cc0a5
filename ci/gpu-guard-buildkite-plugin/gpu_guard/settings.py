"""Settings that the guard chose before the job's command started, and that tests and the tuner obey.

`GPU_GUARD_SET_<NAME>` in the environment: UTILIZATION, MAX_NUM_SEQS, MAX_NUM_BATCHED_TOKENS and others of vLLM's;
`GPU_GUARD_PROFILE` names the profile that they are of, `GPU_GUARD_PROFILES` the user's own table of profiles.
A test of vLLM takes all of them in one call:

    llm = LLM(model=..., **engine_arguments("nixl-hma", gpu_memory_utilization=0.5))
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import probe
from .budget import LEAST, Card, highest
from .memory import open_briefly
from .profiles import Profile, Value, load, pick

PREFIX = "GPU_GUARD_SET_"
PROFILE = "GPU_GUARD_PROFILE"
PROFILES = "GPU_GUARD_PROFILES"

UTILIZATION = "gpu_memory_utilization"


def setting(name: str, environ: Mapping[str, str] | None = None) -> float | None:
    """The value of a setting, such as `setting("UTILIZATION")`; None where it is not set or no number above zero."""
    environ = os.environ if environ is None else environ
    try:
        value = float(environ.get(PREFIX + name, ""))
    except ValueError:
        return None
    return value if value > 0 and math.isfinite(value) else None


def at_most(wanted: float, name: str, environ: Mapping[str, str] | None = None) -> float:
    """What a test gets that wants `wanted`: the setting where that is lower."""
    limit = setting(name, environ)
    return wanted if limit is None else min(wanted, limit)


def engine_arguments(profile: str, /, **wanted: Any) -> dict[str, Any]:
    """The arguments of vLLM's engine for a test: what it wants, held down to the job's settings and to what fits.

    The utilization is the least of the test's, the setting (without one the profile's ceiling) and what is free now,
    as long as the profile's floor allows that. `max_…` are limits too, whichever profile the job has; anything else
    of the profile is its choice, and the test's own word stands before it. Raise ProfileError for a name that no
    table and no setting knows.
    """
    return chosen_arguments(profile, wanted, os.environ, _cards())


def environment(profile: str) -> Mapping[str, str]:
    """The variables that a profile asks for; a test sets them where the job did not. Raise ProfileError as above."""
    return _profile(profile, os.environ).environment


def exported(profile: Profile | None, utilization: float | None, file: Path | None = None) -> dict[str, str]:
    """The variables that carry a profile, the table that it is in, and a utilization to the job's command."""
    found: dict[str, str] = {}
    if profile is not None:
        found = {PROFILE: profile.name, **({PROFILES: str(file)} if file is not None else {})}
        found.update({PREFIX + key.upper(): _text(value) for key, value in profile.engine.items()})
        found.update(profile.environment)
    if utilization is not None:
        found[PREFIX + "UTILIZATION"] = _text(utilization)
    return found


def chosen_arguments(
    name: str, wanted: Mapping[str, Any], environ: Mapping[str, str], cards: Sequence[Card]
) -> dict[str, Any]:
    """The rule behind `engine_arguments`; `cards` are the visible ones, none where they are not known."""
    profile = _profile(name, environ)
    of_this_job = environ.get(PROFILE, name) == name
    chosen = dict(profile.engine)
    for key, value in _settings(environ).items():
        if _is_limit(key) and (of_this_job or key in chosen or key in wanted):
            chosen[key] = _lower(chosen.get(key, value), value)
        elif of_this_job:
            chosen[key] = value
    found: dict[str, Any] = dict(chosen)
    for key, value in wanted.items():
        found[key] = _lower(value, chosen[key]) if _is_limit(key) and key in chosen else value
    limit = setting("UTILIZATION", environ)
    # The pipeline may give its own job more than the profile says; to another profile it is one more limit.
    ceiling = profile.ceiling if limit is None else limit if of_this_job else min(limit, profile.ceiling)
    most = min(float(wanted.get(UTILIZATION, ceiling)), ceiling)
    found[UTILIZATION] = _fitting(most, profile, cards)
    return found


def _fitting(most: float, profile: Profile, cards: Sequence[Card]) -> float:
    """What fits on each card; `most` where that is less than the test needs: the engine shall say what it lacks."""
    fits = min([most, *(highest(card.free, card.total, len(cards)) for card in cards)])
    least = max([LEAST, profile.floor or LEAST, *(profile.need_gib * 2**30 / max(1, card.total) for card in cards)])
    return fits if fits >= least else most


def _profile(name: str, environ: Mapping[str, str]) -> Profile:
    """From the tables; where none knows it, from the settings alone: a container may not see the user's table."""
    own = environ.get(PROFILES)
    file = Path(own) if own and Path(own).is_file() else None
    limit = setting("UTILIZATION", environ)
    if environ.get(PROFILE) == name and limit is not None and name not in load(file):
        return Profile(name, limit)
    return pick(name, file)


def _settings(environ: Mapping[str, str]) -> dict[str, Value]:
    """Every setting but the utilization, by vLLM's name for it."""
    names = [name for name in environ if name.startswith(PREFIX) and name != PREFIX + "UTILIZATION"]
    return {name[len(PREFIX) :].lower(): _value(environ[name]) for name in sorted(names)}


def _is_limit(key: str) -> bool:
    return key.startswith("max_")


def _lower(one: Any, other: Any) -> Any:
    """The lower of two limits; what is no number above zero (None, -1, "auto") is none."""
    if not _is_number(one):
        return other
    return min(one, other) if _is_number(other) else one


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _value(text: str) -> Value:
    """A setting as Python has it: number, true, false, or text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (bool, int, float)) else text


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cards() -> list[Card]:
    meter = open_briefly()
    try:
        snapshot = probe.take(meter)
    finally:
        meter.close()
    return [] if snapshot is None else snapshot.cards()
