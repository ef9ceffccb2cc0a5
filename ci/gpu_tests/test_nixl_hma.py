"""What a prefill hands to another machine, with NIXL and the hybrid KV cache manager.

Layers that look back over a window need the blocks of that window alone: their groups must hand over fewer than the
group that attends to everything. The property is the one of vLLM's own `test_fewer_blocks_with_hma`.
"""

from __future__ import annotations

from typing import Any

import pytest

from gpu_guard.budget import Card
from gpu_guard.settings import engine_arguments
from rig.engines import PROMPT, engine, managers, prefilled
from rig.models import Model

IN_THIS_PROCESS, IN_ITS_OWN = "0", "1"


def blocks(tokens: int, size: int) -> int:
    return -(-tokens // size)


@pytest.mark.parametrize(
    "processes",
    [pytest.param(IN_ITS_OWN, id="engine in its own process"), pytest.param(IN_THIS_PROCESS, id="engine in this one")],
)
def test_sliding_groups_hand_over_fewer_blocks(
    processes: str, model: Model, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", processes)
    arguments = engine_arguments("nixl-hma")
    assert arguments["gpu_memory_utilization"] * card.total < card.free
    with engine(model, **arguments) as llm:
        check_managers(managers(llm), processes)
        handed = prefilled(llm)
    size = arguments["block_size"]
    *sliding, full = handed
    # The last token's block may be begun and the first one's be half left: one more than the window holds.
    assert set(sliding) == {blocks(model.window, size) + 1}
    assert full == blocks(PROMPT, size)
    assert len(sliding) > 1
    assert sliding[0] < full


def check_managers(found: list[Any] | None, processes: str) -> None:
    if processes == IN_ITS_OWN:
        assert found is None
        return
    assert found is not None
    assert {type(manager).__name__ for manager in found} == {"SlidingWindowManager", "FullAttentionManager"}
    assert type(found[-1]).__name__ == "FullAttentionManager"
    assert not any(manager.req_to_blocks for manager in found)
