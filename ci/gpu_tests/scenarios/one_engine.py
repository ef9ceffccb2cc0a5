"""A test that asks for as much as its author wrote down, whatever is free: as most tests of vLLM do."""

from __future__ import annotations

from gpu_guard.profiles import pick
from rig.engines import engine, prefilled
from rig.models import Model

PROFILE = pick("nixl-hma", None)


def test_starts_and_answers(model: Model) -> None:
    with engine(model, gpu_memory_utilization=PROFILE.ceiling, **PROFILE.engine) as llm:
        assert prefilled(llm)
