"""Arithmetic of what is held: what grew in a test, and which growth is nobody's leak."""

from __future__ import annotations

from gpu_guard.memory import DeviceReading, Holder
from gpu_guard.recorder.held import CONTEXT, FLOOR, Held, growth, held
from gpu_guard.recorder.torchstate import Counters

ME, CHILD, STRANGER = 10, 11, 12
GIB = 2**30
NOTHING = Held(live=0, beyond=0, other=0, children={}, listed=True, present=True)


def read(used: int, *holders: Holder, listed: bool = True) -> DeviceReading:
    return DeviceReading(22 * GIB - used, 22 * GIB, used, holders if listed else None)


def mine(device: DeviceReading, torch: Counters | None) -> Held:
    return held(device, torch, ME, lambda pid: pid == CHILD)


def test_the_parts_are_told_apart():
    device = read(9 * GIB, Holder(ME, "me", 5 * GIB), Holder(CHILD, "child", 3 * GIB), Holder(STRANGER, "other", GIB))
    assert mine(device, Counters(2 * GIB, 4 * GIB)) == Held(
        live=2 * GIB, beyond=5 * GIB, other=GIB, children={CHILD: 3 * GIB}, listed=True, present=True
    )


def test_without_a_list_all_that_is_not_torchs_is_beyond():
    assert mine(read(9 * GIB, listed=False), Counters(2 * GIB, 4 * GIB)) == Held(
        live=2 * GIB, beyond=5 * GIB, other=0, children={}, listed=False, present=True
    )


def test_a_list_that_misses_this_very_process_counts_other_pids():
    assert not mine(read(9 * GIB, Holder(4711, "python", 9 * GIB)), Counters(2 * GIB, 4 * GIB)).listed
    assert mine(read(9 * GIB, Holder(4711, "python", 9 * GIB)), None).listed


def test_the_first_use_of_cuda_leaves_a_context_and_that_is_no_leak():
    before = NOTHING._replace(present=False)
    assert growth(before, NOTHING._replace(other=CONTEXT)).total == 0
    assert growth(before, NOTHING._replace(other=CONTEXT + 3 * GIB)).total == 3 * GIB
    assert growth(NOTHING, NOTHING._replace(other=CONTEXT)).total == CONTEXT


def test_little_growth_is_nobodys():
    less, enough = FLOOR - 1, FLOOR
    assert growth(NOTHING, NOTHING._replace(live=less, other=less, children={CHILD: less})).total == 0
    assert growth(NOTHING, NOTHING._replace(live=enough)).total == FLOOR


def test_what_one_part_gives_back_does_not_hide_what_another_takes():
    before = NOTHING._replace(live=5 * GIB, children={CHILD: 2 * GIB})
    after = NOTHING._replace(children={CHILD: 2 * GIB, 13: 4 * GIB})
    assert growth(before, after).total == 4 * GIB


def test_unlisted_growth_counts_as_a_whole():
    before = NOTHING._replace(beyond=GIB, listed=False)
    assert growth(before, before._replace(beyond=4 * GIB)).rest == 3 * GIB


def test_growth_listed_only_afterwards_counts_as_far_as_it_is_ours():
    before = NOTHING._replace(beyond=GIB, listed=False)
    after = NOTHING._replace(beyond=9 * GIB, children={CHILD: 2 * GIB})
    assert growth(before, after).rest == 2 * GIB
