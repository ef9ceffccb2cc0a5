"""The budget against vLLM's own test, `free < ceil(total * utilization)` once its context exists."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_guard.budget import (
    CONTEXT,
    GIB,
    HEADROOM,
    LEAST,
    MIB,
    Card,
    Verdict,
    Want,
    fits,
    highest,
    judge,
    lowered,
    needed,
    requested,
)

H200 = 150109880320  # bytes, as torch reads them; also 143771 MiB less 615.0625 that the driver keeps
L4 = round(22.05 * GIB)

totals = st.integers(min_value=4 * GIB, max_value=300 * GIB)
shares = st.floats(min_value=LEAST, max_value=1.0)
parts = st.floats(min_value=0.0, max_value=1.0)


def vllm_starts(free: int, total: int, utilization: float, context: int) -> bool:
    """What vLLM 0.14 and later decides: its context is there when it measures."""
    return not (free - context < math.ceil(total * utilization))


@given(total=totals, part=parts, utilization=shares, context=st.integers(min_value=0, max_value=CONTEXT))
def test_what_fits_starts_whatever_the_context_takes(total, part, utilization, context):
    free = int(total * part)
    if fits(free, total, utilization):
        assert vllm_starts(free, total, utilization, context)
    else:
        assert not vllm_starts(free, total, utilization, CONTEXT)


@given(total=totals, part=parts)
def test_the_highest_starts_with_headroom_and_a_thousandth_more_would_not(total, part):
    free = int(total * part)
    most = highest(free, total)
    assert 0 <= most < 1
    if most:
        assert vllm_starts(free, total, most, HEADROOM)
    assert not vllm_starts(free, total, most + 0.001 + 1e-9, HEADROOM)


@given(total=totals, part=parts, utilization=shares)
def test_lowering_never_raises_and_gives_what_starts(total, part, utilization):
    free = int(total * part)
    got = lowered(utilization, free, total)
    assert got <= utilization
    if got < utilization:
        assert vllm_starts(free, total, got, HEADROOM)


wants = st.builds(
    lambda ceiling, part, need: Want(ceiling, ceiling * part, need),
    shares,
    st.floats(min_value=0.05, max_value=1.0),
    st.integers(min_value=0, max_value=30 * GIB),
)
cards = st.lists(
    st.builds(lambda total, part: Card("a", int(total * part), total), totals, parts), min_size=1, max_size=8
)


@given(cards=cards, want=wants)
def test_an_answer_to_start_starts_on_each_card_with_what_the_test_needs(cards, want):
    answer = judge(cards, want)
    assert answer.sentence
    assert (answer.utilization is not None) == (answer.verdict in (Verdict.USE, Verdict.LOWER))
    if answer.utilization is None:
        return
    assert want.floor <= answer.utilization <= want.ceiling
    assert (answer.verdict is Verdict.USE) == (answer.utilization == want.ceiling)
    for card in cards:
        assert vllm_starts(card.free, card.total, answer.utilization, CONTEXT)
        assert requested(card.total, answer.utilization) >= want.need


@given(cards=cards, want=wants)
def test_waiting_is_for_memory_that_others_hold_and_refusing_for_what_the_card_lacks(cards, want):
    empty = [card._replace(free=card.total) for card in cards]
    verdict = judge(cards, want).verdict
    if verdict is Verdict.WAIT:
        assert any(not fits(card.free, card.total, want.ceiling, len(cards)) for card in cards)
    if verdict is Verdict.REFUSE:
        assert judge(empty, want).verdict is Verdict.REFUSE


@given(cards=cards, want=wants)
def test_a_card_that_is_emptied_never_gets_a_worse_answer(cards, want):
    order = [Verdict.USE, Verdict.LOWER, Verdict.WAIT, Verdict.REFUSE]
    emptied = [card._replace(free=min(card.total, card.free + 2 * GIB)) for card in cards]
    assert order.index(judge(emptied, want).verdict) <= order.index(judge(cards, want).verdict)


@pytest.mark.parametrize(
    ("total", "free", "utilization", "printed", "starts"),
    [
        (L4, round(10.93 * GIB), 0.5, 11.02, False),
        (L4, round(10.93 * GIB), 0.47, 10.36, True),
        (L4, round(4.51 * GIB), 0.47, 10.36, False),
        (L4, round(4.51 * GIB), 0.3, 6.62, False),
        (L4, round(4.51 * GIB), 0.2, 4.41, True),
        (H200, round(28.77 * GIB), 0.3, 41.94, False),
        (H200, round(55.43 * GIB), 0.6, 83.88, False),
    ],
)
def test_the_failures_that_vllm_printed_are_computed_to_its_figure(total, free, utilization, printed, starts):
    """`free` is what vLLM saw, its context already there."""
    assert abs(requested(total, utilization) / GIB - printed) <= 0.01
    assert fits(free + CONTEXT, total, utilization) is starts


def test_the_second_failure_of_the_l4_needed_at_most_a_fifth():
    assert 0.2 <= highest(round(4.51 * GIB) + HEADROOM, L4) < 0.21


def test_real_logs_agree(corpus):
    """Each pair: what another process left on an H200, and what vLLM then printed to have seen and asked."""
    seen = 0
    for log in sorted((corpus / "gpu-runs").glob("freemem_*.log")):
        text = log.read_text(errors="replace")
        left = re.search(r"holder HELD \S+ free (\S+) GiB", text)
        said = re.search(r"ValueError: Free memory on device cuda:0 \((\S+)/\S+ GiB\).*\((\S+), (\S+) GiB\)", text)
        free, utilization, asked = float(said[1]), float(said[2]), float(said[3])
        before = round(float(left[1]) * GIB)
        assert abs(before - CONTEXT - free * GIB) < 0.02 * GIB  # the context, as the guard counts it
        assert abs(requested(H200, utilization) - asked * GIB) < 0.01 * GIB
        assert not fits(before, H200, utilization)
        seen += 1
    assert seen == 2


def test_the_edge_lies_where_vllm_has_it():
    """An H200 of which another process left 19747.125 MiB: vLLM 0.23 started at the first and refused the second."""
    free = round(19747.125 * MIB)
    assert fits(free, H200, 0.13421814835199597)
    assert not fits(free, H200, 0.13430895941706925)


def test_one_byte_decides():
    enough = needed(L4, 0.3)
    assert fits(enough, L4, 0.3)
    assert not fits(enough - 1, L4, 0.3)


def test_more_than_the_card_has_is_refused_at_once_and_said():
    small = Card("cuda:0", 8 * GIB, 8 * GIB)
    answer = judge([small], Want(0.3, 0.1, need=round(3.5 * GIB)))
    assert answer.verdict is Verdict.REFUSE
    assert answer.sentence == "0.3 of cuda:0, 8.00 GiB, is 2.40 GiB, and the test needs 3.50 GiB: no wait helps"
    answer = judge([small], Want(1.0))
    assert answer.verdict is Verdict.REFUSE
    assert answer.sentence.startswith("a utilization of 1.0 asks 8.52 GiB, more than the 8.00 GiB that cuda:0 has")
    answer = judge([small], Want(min_free=9 * GIB))
    assert answer.sentence == "min-free asks 9.00 GiB, more than the 8.00 GiB that cuda:0 has: no wait helps"


def test_each_answer_is_one_sentence_with_its_figures():
    want = Want(0.5, 0.1, need=2 * GIB)

    def said(free: float) -> str:
        return judge([Card("cuda:0", round(free * GIB), 20 * GIB)], want).sentence

    asks = "0.5 asks 10.00 GiB and 0.52 GiB for its context"
    assert said(15) == f"cuda:0 has 15.00 of 20.00 GiB free; {asks}: it fits"
    assert said(5) == f"cuda:0 has 5.00 of 20.00 GiB free; {asks}: lowered to 0.22, 4.40 GiB"
    assert said(2) == (
        f"cuda:0 has 2.00 of 20.00 GiB free; {asks}, and 0.1, the least that will do, 2.00 GiB: short by 0.59 GiB"
    )


@given(cards=cards, want=wants)
def test_what_is_short_is_what_would_have_to_come_back(cards, want):
    answer = judge(cards, want)
    if answer.verdict is not Verdict.WAIT:
        return
    amount, unit = re.search(r"short by (\S+) (GiB|MiB)$", answer.sentence).groups()
    short = math.ceil((float(amount) + 0.006) * (GIB if unit == "GiB" else MIB))
    if all(card.free + short <= card.total for card in cards):
        more = [card._replace(free=card.free + short) for card in cards]
        assert judge(more, want).verdict in (Verdict.USE, Verdict.LOWER)


def test_a_floor_is_taken_as_it_is_written():
    card = Card("cuda:0", round(2.1 * GIB), 20 * GIB)
    assert judge([card], Want(0.5, 0.07)).utilization == highest(card.free, card.total) >= 0.07
    assert "and 0.07, the least" in judge([card._replace(free=GIB)], Want(0.5, 0.07)).sentence


def test_the_fullest_card_decides_for_all():
    cards = [Card("cuda:0", 20 * GIB, 20 * GIB), Card("cuda:1", 6 * GIB, 20 * GIB)]
    assert judge(cards, Want(0.3)).verdict is Verdict.WAIT
    answer = judge(cards, Want(0.3, 0.1))
    assert answer.verdict is Verdict.LOWER
    assert answer.utilization == highest(6 * GIB, 20 * GIB, 2)
    assert "cuda:1" in answer.sentence


def test_several_cards_leave_room_for_nccl_where_somebody_else_is_there():
    """Two H200: 526.8 MiB of context, 1460.8 with NCCL, each card."""
    used = 2 * GIB
    tight = (H200 - used - round(1460.8 * MIB)) / H200
    pair = [Card("cuda:0", H200 - used, H200), Card("cuda:1", H200, H200)]
    assert judge(pair, Want(tight - 0.0001)).verdict is Verdict.USE
    assert judge(pair, Want(tight + 0.0002)).verdict is Verdict.WAIT
    assert judge(pair[:1], Want(tight + 0.0002)).verdict is Verdict.USE  # an engine on one card needs no NCCL
    alone = [card._replace(free=card.total) for card in pair]
    assert judge(alone, Want(tight + 0.0002)).verdict is Verdict.USE  # nothing to wait for


def test_memory_alone_can_be_asked():
    card = Card("cuda:0", 5 * GIB, 20 * GIB)
    assert judge([card], Want(min_free=5 * GIB)) == (
        Verdict.USE,
        None,
        "cuda:0 has 5.00 of 20.00 GiB free; 5.00 GiB are asked: it fits",
    )
    answer = judge([card], Want(min_free=5 * GIB + 10 * MIB))
    assert answer.verdict is Verdict.WAIT
    assert answer.sentence == "cuda:0 has 5.00 of 20.00 GiB free, less than the 5.01 GiB that are asked"
