"""Which test left GPU memory behind, and what holds it.

A test leaks what this process and its children hold more of after it than before, once it had time to come back,
less what belongs to fixtures that live on. Growth of other processes is never a test's leak, nor is torch's cache.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from . import tensors, torchstate
from .held import FLOOR, Growth, Held, growth
from .reach import reachable
from .tensors import FrozenTensors, Listed

SETTLE = 3.0
"""Seconds that memory of other processes gets to come back: the driver took 0.7 after an exit, 2.7 after SIGTERM."""
SETTLE_OWN = 0.25
"""Seconds for this process's own: torch counts at once, only threads that still end need a moment."""
_STEP = 0.05

Holdings = Sequence[Held]
"""What is held on each device, in order."""


class Leak(NamedTuple):
    """What an attempt left behind: bytes over all devices, the largest tensors, the children that hold the rest."""

    size: int
    tensors: tuple[Listed, ...]
    children: tuple[int, ...]


@dataclass
class _Owned:
    """What a fixture beyond function scope holds: torch's bytes on each device, and processes."""

    live: list[int]
    children: set[int]
    values: Callable[[], Iterable[object]]


class Mark(NamedTuple):
    """A moment to count from: what is held, what earlier leaks had given back and fixtures had taken by then."""

    held: Holdings
    freed: list[int]
    taken: list[int]


@dataclass
class _Span:
    """One attempt: what was held when it began, what fixtures took and gave back since."""

    start: Mark
    taken: list[int]
    given_back: list[int]
    orphaned: set[int] = field(default_factory=set)


class LeakWatch:
    """Follows what is held from attempt to attempt. `take` gives fresh holdings, processes included."""

    def __init__(self, devices: int, take: Callable[[], Holdings], frozen: FrozenTensors) -> None:
        self._devices = devices
        self._take = take
        self._frozen = frozen
        self._span: _Span | None = None
        self._fixtures: dict[object, _Owned] = {}
        self._known: dict[int, weakref.ref[Any]] = {}
        self._left: list[tuple[weakref.ref[Any], int, int]] = []  # leaked tensors: bytes, device
        self._freed = [0] * devices  # bytes of those that went away since

    def attempt_starts(self, holdings: Holdings) -> None:
        """Begin to count for a new attempt."""
        if not self._known and sum(held.live for held in holdings) >= FLOOR:
            self._remember(self._live())  # made while test files were imported: no test's own
        nothing = [0] * self._devices
        self._span = _Span(Mark(holdings, self._count_freed(), nothing), nothing, nothing)

    def mark(self, holdings: Holdings) -> Mark:
        """The moment before a fixture is set up."""
        return Mark(holdings, self._count_freed(), self._span.taken if self._span else [0] * self._devices)

    def fixture_ready(
        self, key: object, values: Callable[[], Iterable[object]], start: Mark, holdings: Holdings
    ) -> None:
        """A fixture that outlives the test was set up since `start`; `values` gives what it returned while it lives."""
        span = self._span
        if span is None:
            return
        freed = _minus(self._count_freed(), start.freed)
        within = _minus(span.taken, start.taken)  # by fixtures that this one asked for
        grown = [growth(then, now) for then, now in zip(start.held, holdings)]
        live = [max(0, part.live + back - less) for part, back, less in zip(grown, freed, within)]
        self._fixtures[key] = _Owned(live, {pid for part in grown for pid in part.children}, values)
        span.taken = [have + more for have, more in zip(span.taken, live)]
        if sum(live) >= FLOOR:
            self._remember(self._live())

    def fixture_gone(self, key: object) -> None:
        """A fixture was torn down: from now on it owns nothing."""
        owned = self._fixtures.pop(key, None)
        if owned is not None and self._span is not None:
            self._span.given_back = [have + more for have, more in zip(self._span.given_back, owned.live)]
            self._span.orphaned |= owned.children

    def attempt_ends(self, holdings: Holdings) -> Leak | None:
        """The attempt's leak, if any: growth that stays although memory was given time to come back."""
        span = self._span
        if span is None:
            return None
        grown = self._grown(span, holdings)
        started = time.monotonic()
        while _total(grown) >= FLOOR and time.monotonic() - started < (SETTLE if _foreign(grown) else SETTLE_OWN):
            time.sleep(_STEP)
            holdings = self._take()
            grown = self._grown(span, holdings)
        self._span = None
        if _total(grown) < FLOOR:
            self._fixtures_shrank(grown)
            return None
        return self._name(grown)

    def _grown(self, span: _Span, holdings: Holdings) -> list[Growth]:
        """Growth on each device against what fixtures and earlier leaks let expect."""
        freed = _minus(self._count_freed(), span.start.freed)
        lent = {pid for owned in self._fixtures.values() for pid in owned.children}
        found = []
        for place, (before, after) in enumerate(zip(span.start.held, holdings)):
            live = before.live + span.taken[place] - span.given_back[place] - freed[place]
            children = {pid: size for pid, size in before.children.items() if pid not in span.orphaned}
            expected = before._replace(live=max(0, live), children=children)
            mine = {pid: size for pid, size in after.children.items() if pid not in lent}
            found.append(growth(expected, after._replace(children=mine)))
        return found

    def _name(self, grown: list[Growth]) -> Leak | None:
        """Find what holds the growth; what hangs on a living fixture is the fixture's."""
        found = self._live()
        new = [tensor for tensor in found if not self._is_known(tensor)]
        self._remember(found)
        owners = self._owners()
        for tensor in new:
            if id(tensor) in owners:
                place, size = _device(tensor), tensors.size_of(tensor)
                owners[id(tensor)].live[place] += size
                grown[place] = grown[place]._replace(live=grown[place].live - size)
        size = _total(grown)
        if size < FLOOR:
            return None
        mine = [tensor for tensor in new if id(tensor) not in owners]
        self._left += [(weakref.ref(tensor), tensors.size_of(tensor), _device(tensor)) for tensor in mine]
        shown = mine if sum(part.live for part in grown) >= FLOOR else []
        referrers = {id(tensor): referrer for tensor, referrer in self._frozen.alive()}
        children = {pid for part in grown for pid, held in part.children.items() if held >= FLOOR}
        return Leak(size, tuple(tensors.listed(shown, referrers)), tuple(sorted(children)))

    def _owners(self) -> dict[int, _Owned]:
        """The living fixture that each tensor hangs on, by the tensor's `id`."""
        torch = torchstate.loaded()
        if torch is None:
            return {}
        return {
            id(tensor): owned
            for owned in self._fixtures.values()
            for tensor in reachable(owned.values(), torch.Tensor)
        }

    def _fixtures_shrank(self, grown: list[Growth]) -> None:
        """Memory that went away in a test was a fixture's (an engine put to sleep): it will not give it back twice."""
        for place, part in enumerate(grown):
            shrink = -part.live
            for owned in reversed(list(self._fixtures.values())):
                if shrink <= 0:
                    break
                gone = min(shrink, owned.live[place])
                owned.live[place] -= gone
                shrink -= gone

    def _live(self) -> list[Any]:
        return tensors.by_storage(tensors.live() + [tensor for tensor, _ in self._frozen.alive()])

    def _remember(self, found: list[Any]) -> None:
        self._known = {id(tensor): weakref.ref(tensor) for tensor in found}

    def _is_known(self, tensor: Any) -> bool:
        reference = self._known.get(id(tensor))
        return reference is not None and reference() is tensor

    def _count_freed(self) -> list[int]:
        """Bytes of leaked tensors that went away in this session, on each device."""
        still = []
        for reference, size, place in self._left:
            if reference() is None:
                self._freed[place] += size
            else:
                still.append((reference, size, place))
        self._left = still
        return self._freed.copy()


def _total(grown: list[Growth]) -> int:
    return sum(part.total for part in grown)


def _minus(now: list[int], then: list[int]) -> list[int]:
    return [one - other for one, other in zip(now, then)]


def _foreign(grown: list[Growth]) -> bool:
    """Whether some of the growth is not this process's own."""
    return any(part.rest >= FLOOR or any(size >= FLOOR for size in part.children.values()) for part in grown)


def _device(tensor: Any) -> int:
    return int(tensor.device.index or 0)
