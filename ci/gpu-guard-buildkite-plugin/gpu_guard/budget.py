"""How much memory an engine asks for, and which utilization fits what is free. Pure arithmetic; sizes are bytes.

vLLM refuses to start when `free < ceil(total * utilization)` (`request_memory` of its GPU worker; no ceil before
0.14). It measures `free` after its own CUDA context exists, so before it starts there must be room for both.
`total` is what CUDA reports: the driver's total less what the driver keeps for itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Optional

MIB = 2**20
GIB = 2**30

CONTEXT = 533 * MIB
"""What a CUDA context takes of the card before vLLM measures: 0.52 GiB, seen on an H200."""

GROUP = 936 * MIB
"""What NCCL takes of each card where an engine spans several, before vLLM 0.11 and later measures: on two H200."""

HEADROOM = 600 * MIB
"""What is left beside a lowered utilization: the context, and room for what differs between cards."""

LEAST = 0.01
"""Below this an engine cannot run whatever is done."""

_DUST = 64 * MIB  # an idle card may show a few MiB in use
_STEP = 1000  # utilizations are chosen in thousandths: they are read by people


class Want(NamedTuple):
    """What a job asks of each card.

    `ceiling` is the utilization that it would like, None where it runs no engine; it may be lowered to `floor`, but
    not so far that the engine gets less than `need` bytes. `min_free` bytes must be free whatever else holds.
    """

    ceiling: Optional[float] = None
    floor: Optional[float] = None
    need: int = 0
    min_free: int = 0


class Card(NamedTuple):
    """One card at one moment."""

    name: str
    free: int
    total: int


class Verdict(Enum):
    """What to do: start as asked, start with a lower utilization, wait for memory, or give up: no wait would help."""

    USE = "use"
    LOWER = "lower"
    WAIT = "wait"
    REFUSE = "refuse"


class Answer(NamedTuple):
    """A verdict, the utilization to start with (None where none was asked, or none fits), and why."""

    verdict: Verdict
    utilization: Optional[float]
    sentence: str


def requested(total: int, utilization: float) -> int:
    """Bytes that vLLM demands free on a card of `total` bytes, once its context exists."""
    return math.ceil(total * utilization)


def needed(total: int, utilization: float, cards: int = 1) -> int:
    """Bytes that must be free on each of so many cards before the engine starts."""
    return requested(total, utilization) + CONTEXT + _group(cards)


def fits(free: int, total: int, utilization: float, cards: int = 1) -> bool:
    """Whether an engine of this utilization would start now."""
    return needed(total, utilization, cards) <= free


def highest(free: int, total: int, cards: int = 1) -> float:
    """The largest utilization, in thousandths, that fits with headroom; 0 where nothing does."""
    if total <= 0:
        return 0.0
    room = free - HEADROOM - _group(cards)
    steps = max(0, math.floor(room / total * _STEP))
    while steps and requested(total, steps / _STEP) > room:  # what floating point rounded up
        steps -= 1
    return steps / _STEP


def lowered(wanted: float, free: int, total: int) -> float:
    """The utilization that an engine gets: `wanted`, or less where less is free.

    `wanted` too where nothing can run: the engine shall say itself that memory is short.
    """
    most = highest(free, total)
    return min(wanted, most) if most >= LEAST else wanted


def judge(cards: Sequence[Card], want: Want) -> Answer:
    """What to do with these cards; the worst of them decides, as an engine spreads evenly over all."""
    for card in cards:
        if want.min_free > card.total:
            return Answer(Verdict.REFUSE, None, _never(card, want.min_free, "min-free"))
    if want.ceiling is not None:
        answer = _judge_engine(cards, want, want.ceiling)
        if answer.verdict in (Verdict.REFUSE, Verdict.WAIT):
            return answer
    else:
        asked = f"{_gib(want.min_free)} are asked: it fits" if want.min_free else "this step asks for none"
        answer = Answer(Verdict.USE, None, "; ".join([*(f"{_of(card)} free" for card in cards), asked]))
    for card in cards:
        if card.free < want.min_free:
            return Answer(Verdict.WAIT, None, f"{_of(card)} free, less than the {_gib(want.min_free)} that are asked")
    return answer


def _judge_engine(cards: Sequence[Card], want: Want, ceiling: float) -> Answer:
    count = len(cards)
    floor = min(ceiling, ceiling if want.floor is None else want.floor)
    for card in cards:
        if want.need > requested(card.total, ceiling):
            return Answer(Verdict.REFUSE, None, _too_small(card, want.need, ceiling))
        if needed(card.total, floor) > card.total:  # each card alone: the engine may be one that uses one
            return Answer(Verdict.REFUSE, None, _never(card, needed(card.total, floor), f"a utilization of {floor}"))
    worst = min(cards, key=lambda card: card.free - requested(card.total, ceiling))
    have = f"{_of(worst)} free; {_asks(worst, ceiling, count)}"
    if all(_starts(card, ceiling, count) for card in cards):
        return Answer(Verdict.USE, ceiling, f"{have}: it fits")
    most = min(ceiling, *(highest(card.free, card.total, count) for card in cards))
    least = max(floor, *(want.need / card.total for card in cards))
    least = min(ceiling, math.ceil(round(least * _STEP, 6)) / _STEP)  # 0.07 is 70.00000000000001 thousandths
    if least <= most < ceiling:
        return Answer(Verdict.LOWER, most, f"{have}: lowered to {most}, {_gib(requested(worst.total, most))}")
    own = CONTEXT
    if least < ceiling:
        own = HEADROOM
        have += f", and {least:.3g}, the least that will do, {_gib(requested(worst.total, least))}"
    short = max(requested(card.total, least) + own + _group(count) - card.free for card in cards)
    return Answer(Verdict.WAIT, None, f"{have}: short by {_gib(max(short, MIB))}")


def _starts(card: Card, utilization: float, cards: int) -> bool:
    """Whether an engine starts here; on a card that nobody holds anything of there is nothing to wait for."""
    idle = card.free >= card.total - _DUST
    return fits(card.free, card.total, utilization, 1 if idle else cards)


def _group(cards: int) -> int:
    return GROUP if cards > 1 else 0


def _asks(card: Card, utilization: float, cards: int) -> str:
    own = CONTEXT + _group(cards)
    what = "its context and NCCL" if cards > 1 else "its context"
    return f"{utilization} asks {_gib(requested(card.total, utilization))} and {_gib(own)} for {what}"


def _too_small(card: Card, need: int, ceiling: float) -> str:
    gets = _gib(requested(card.total, ceiling))
    return f"{ceiling} of {card.name}, {_gib(card.total)}, is {gets}, and the test needs {_gib(need)}: no wait helps"


def _never(card: Card, size: int, what: str) -> str:
    return f"{what} asks {_gib(size)}, more than the {_gib(card.total)} that {card.name} has: no wait helps"


def _of(card: Card) -> str:
    return f"{card.name} has {card.free / GIB:.2f} of {_gib(card.total)}"


def _gib(size: int) -> str:
    return f"{size / GIB:.2f} GiB" if size >= GIB // 100 else f"{math.ceil(size / MIB)} MiB"
