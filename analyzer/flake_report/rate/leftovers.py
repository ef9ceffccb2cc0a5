"""Which test left GPU memory behind, from the recorder's samples: no statistics, a ledger.

Between two neighbouring samples of a device some memory comes or goes. Of what came, only that counts which is still
there when the victim begins. Let u_0 … u_n be what is in use at each sample, u_n the one before the victim, and
m_k = min(u_k … u_n) what never went away again from sample k on. m rises from m_0 to m_n = u_n, and each rise
m_k − m_(k−1) belongs to what ran between the samples k − 1 and k. So the parts add up to what the victim found in use,
less what was there from the start: nothing is counted twice, and memory that was given back belongs to nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from flake_report.model.memory import GIB, Trace, TracePoint

LEAST = GIB
"""A test that leaves less is not named: the first one that touches the card leaves the CUDA context and NCCL's buffers,
0.5 to 0.8 GiB, and is to blame for nothing."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """What was left on a device while `tests` ran, in bytes: one test, several at once, or none (between tests)."""

    tests: tuple[str, ...]
    size: int


def left_before(points: Sequence[TracePoint], victim: str) -> tuple[Leftover, ...]:
    """What the victim found in use when it first began, beyond the first sample, by who left it; largest first.

    Empty where no sample was taken before the victim.
    """
    end = next((at for at, point in enumerate(points) if point.test == victim and point.before), None)
    if end is None:
        return ()
    kept = list(accumulate((point.used for point in reversed(points[: end + 1])), min))[::-1]
    left: dict[tuple[str, ...], int] = {}
    running: set[str] = set()
    for at in range(1, end + 1):
        _pass(running, points[at - 1])
        if grown := kept[at] - kept[at - 1]:
            tests = tuple(sorted(running))
            left[tests] = left.get(tests, 0) + grown
    return tuple(sorted((Leftover(*one) for one in left.items()), key=lambda one: (-one.size, one.tests)))


def _pass(running: set[str], point: TracePoint) -> None:
    """Who runs after this sample. A test without an end (its process died) runs until it begins again."""
    if point.before:
        running.add(point.test)
    else:
        running.discard(point.test)


def polluter(traces: Iterable[Trace], victims: Iterable[str]) -> Leftover | None:
    """Of one job: the one test that left most to its first victim; None where no single test left enough.

    With several devices, the one counts on which most was left.
    """
    victims = frozenset(victims)
    found = [left for trace in traces if (left := _to_first_victim(trace, victims))]
    fullest = max(found, key=lambda left: sum(one.size for one in left), default=())
    if not fullest or len(fullest[0].tests) != 1 or fullest[0].size < LEAST:
        return None
    return fullest[0]


def sampled(traces: Iterable[Trace], victims: Iterable[str]) -> bool:
    """Whether some device was sampled before one of the victims began."""
    victims = frozenset(victims)
    return any(point.before and point.test in victims for trace in traces for point in trace.points)


def _to_first_victim(trace: Trace, victims: frozenset[str]) -> tuple[Leftover, ...]:
    first = next((point.test for point in trace.points if point.before and point.test in victims), None)
    return left_before(trace.points, first) if first is not None else ()
