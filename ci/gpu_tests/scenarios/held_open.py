"""An engine in a process of its own, whose test is killed while it waits."""

from __future__ import annotations

import sys
import time

from gpu_guard.profiles import pick
from rig.engines import engine
from rig.models import Model

PROFILE = pick("nixl-hma", None)


def test_waits_with_its_engine_up(model: Model) -> None:
    with engine(model, gpu_memory_utilization=PROFILE.ceiling, **PROFILE.engine):
        sys.stdout.write("the engine is up\n")
        sys.stdout.flush()
        time.sleep(600)
