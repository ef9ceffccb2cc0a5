"""A test that asks for as much as its author wrote down, whatever is free: as most tests of vLLM do."""

from __future__ import annotations

import os

from gpu_guard.profiles import pick
from rig.engines import engine, prefilled
from rig.models import Model

PROFILE = pick("nixl-hma", None)


def test_starts_and_answers(model: Model) -> None:
    asked = float(os.environ.get("GPU_TESTS_UTILIZATION", PROFILE.ceiling))
    with engine(model, gpu_memory_utilization=asked, **PROFILE.engine) as llm:
        assert prefilled(llm)
