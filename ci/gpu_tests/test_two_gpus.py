"""Which cards the guard looks at, where a machine has several."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from gpu_guard.budget import GIB, Card
from rig.holder import Holder
from rig.sessions import guard

FULL = 0.6
"""Of the second card."""


@pytest.fixture
def second(all_cards: list[Card], torch_here: None) -> Iterator[Holder]:  # noqa: ARG001 - it runs on torch
    """Somebody who fills most of the second card."""
    if len(all_cards) < 2:
        pytest.skip("one GPU here")
    if os.environ.get("CUDA_VISIBLE_DEVICES"):
        pytest.skip("CUDA_VISIBLE_DEVICES narrows this session")
    with Holder("1") as holder:
        holder.hold(FULL * all_cards[1].total / GIB)
        yield holder


def probed(visible: str) -> list[dict]:
    return json.loads(guard("probe", "--json", CUDA_VISIBLE_DEVICES=visible).stdout)["devices"]


def test_each_way_of_naming_cards_finds_them(second: Holder) -> None:
    first, other = probed("0,1")
    assert (first["index"], other["index"]) == (0, 1)
    assert first["uuid"] != other["uuid"]
    assert second.pid in {one["pid"] for one in other["holders"]}
    assert second.pid not in {one["pid"] for one in first["holders"]}
    for visible, wanted in (("1", [other]), (other["uuid"], [other]), ("1,0", [other, first]), ("0", [first])):
        assert [one["uuid"] for one in probed(visible)] == [one["uuid"] for one in wanted], visible


def test_a_full_card_counts_only_where_it_is_visible(second: Holder) -> None:
    uuid = probed("1")[0]["uuid"]
    for visible in ("1", uuid, "0,1"):
        refused = guard("check", "--utilization", "0.5", CUDA_VISIBLE_DEVICES=visible)
        assert (refused.returncode, f"pid {second.pid} " in refused.stderr) == (75, True), visible
    assert guard("check", "--utilization", "0.5", CUDA_VISIBLE_DEVICES="0").returncode == 0
