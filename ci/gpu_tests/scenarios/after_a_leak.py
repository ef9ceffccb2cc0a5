"""A test that keeps GPU memory, and one of the same process that needs it."""

from __future__ import annotations

from typing import Any

from gpu_guard.budget import GIB, Card
from gpu_guard.profiles import pick
from rig.engines import engine, prefilled
from rig.models import Model

PROFILE = pick("nixl-hma", None)
KEPT: dict[str, Any] = {}


def test_keeps_its_cache(all_cards: list[Card]) -> None:
    import torch

    (first, *_) = all_cards
    left = (PROFILE.ceiling - 0.1) * first.total  # too little for the next, by a tenth of the card
    KEPT["cache"] = torch.empty(int(first.free - left - GIB) // 2, dtype=torch.bfloat16, device="cuda")
    assert KEPT["cache"].numel()


def test_starts_and_answers(model: Model) -> None:
    with engine(model, gpu_memory_utilization=PROFILE.ceiling, **PROFILE.engine) as llm:
        assert prefilled(llm)
