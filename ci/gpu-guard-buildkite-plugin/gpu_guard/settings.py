"""Settings that the guard chose before the job's command started, and that tests and the tuner obey.

`GPU_GUARD_SET_<NAME>` in the environment: UTILIZATION, MAX_NUM_SEQS, MAX_NUM_BATCHED_TOKENS and others of vLLM's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

from .profiles import Profile, Value

PREFIX = "GPU_GUARD_SET_"


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


def exported(profile: Profile | None, utilization: float | None) -> dict[str, str]:
    """The variables that carry a profile and a utilization to the job's command."""
    found: dict[str, str] = {}
    if profile is not None:
        found = {PREFIX + key.upper(): _text(value) for key, value in profile.engine.items()}
        found.update(profile.environment)
    if utilization is not None:
        found[PREFIX + "UTILIZATION"] = _text(utilization)
    return found


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
