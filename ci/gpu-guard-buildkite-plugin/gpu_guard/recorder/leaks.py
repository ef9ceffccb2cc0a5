"""Which test left GPU memory behind, and what holds it.

A test leaks what this process and its children hold more of after it than before, once it had time to come back,
less what belongs to fixtures that live on. Growth of other processes is never a test's leak, nor is torch's cache.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from . import tensors, torchstate
from .held import FLOOR, Amount, Growth, Held, growth
from .reach import reachable
from .referrers import Ours
from .tensors import FrozenTensors, Listed

SETTLE = 3.0
"""Seconds that memory of other processes gets to come back: the driver took 0.7 after an exit, 2.7 after SIGTERM."""
SETTLE_OWN = 0.25
"""Seconds for this process's own: torch counts at once, only threads that still end need a moment."""
_STEP = 0.05

Holdings = Sequence[Held]
"""What is held on each device, in order."""


class Leak(NamedTuple):
    """What an attempt left behind: bytes over all devices, the largest tensors, the children that hold the rest.

    `unlisted`: some of it is held by a process that the driver does not list, and may be another's.
    """

    size: int
    tensors: tuple[Listed, ...]
    children: tuple[int, ...]
    unlisted: bool = False


@dataclass
class _Owned:
    """What a fixture beyond function scope holds: bytes on each device, and processes."""

    amounts: list[Amount]
    children: set[int]
    values: Callable[[], Iterable[object]]


class Mark(NamedTuple):
    """A moment to count from: what is held, what earlier leaks had given back and fixtures had taken by then."""

    held: Holdings
    freed: list[int]
    taken: list[Amount]


@dataclass
class _Span:
    """One attempt: what was held when it began, what fixtures took and gave back since."""

    start: Mark
    taken: list[Amount]
    given_back: list[Amount]
    fresh: bool
    orphaned: set[int] = field(default_factory=set)


class LeakWatch:
    """Follows what is held from attempt to attempt. `take` gives fresh holdings, processes included."""

    def __init__(self, devices: int, take: Callable[[], Holdings], frozen: FrozenTensors) -> None:
        self._devices = devices
        self._take = take
        self._frozen = frozen
        self._begun = False
        self._span: _Span | None = None
        self._fixtures: dict[object, _Owned] = {}
        self._known: dict[int, weakref.ref[Any]] = {}
        self._left: list[tuple[weakref.ref[Any], int, int]] = []  # leaked tensors: bytes, device
        self._freed = [0] * devices  # bytes of those that went away since

    def attempt_starts(self, holdings: Holdings, *, fresh: bool = True) -> None:
        """Begin to count for a new attempt.

        Without `fresh` holdings whatever is not torch's own count may have been the attempt's before: it tells nothing.
        """
        if not self._begun and sum(held.live for held in holdings) >= FLOOR:
            self._remember(self._live())  # made while test files were imported: no test's own
        self._begun = True
        nothing = [Amount()] * self._devices
        self._span = _Span(Mark(holdings, self._count_freed(), nothing), nothing, nothing, fresh=fresh)

    def attempt_started_with(self, holdings: Holdings) -> None:
        """Better holdings for the start of the attempt have come."""
        if self._span is not None:
            self._span.start = self._span.start._replace(held=holdings)
            self._span.fresh = True

    def mark(self, holdings: Holdings) -> Mark:
        """The moment before a fixture is set up."""
        return Mark(holdings, self._count_freed(), self._span.taken if self._span else [])

    def fixture_ready(
        self, key: object, values: Callable[[], Iterable[object]], start: Mark, holdings: Holdings
    ) -> None:
        """A fixture that outlives the test was set up since `start`; `values` gives what it returned while it lives."""
        span = self._span
        if span is None:
            return
        freed = _minus(self._count_freed(), start.freed)
        within = [now.minus(then) for now, then in zip(span.taken, start.taken)]  # by fixtures that this one asked for
        grown = [growth(then, now) for then, now in zip(start.held, holdings)]
        amounts = [
            Amount(max(0, part.live + back), part.other, part.rest).minus(less)
            for part, back, less in zip(grown, freed, within)
        ]
        self._fixtures[key] = _Owned(amounts, {pid for part in grown for pid in part.children}, values)
        span.taken = [have.plus(more) for have, more in zip(span.taken, amounts)]
        if sum(amount.live for amount in amounts) >= FLOOR:
            self._remember(self._live())

    def fixture_gone(self, key: object) -> None:
        """A fixture was torn down: from now on it owns nothing."""
        owned = self._fixtures.pop(key, None)
        if owned is not None and self._span is not None:
            self._span.given_back = [have.plus(more) for have, more in zip(self._span.given_back, owned.amounts)]
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
            had = Amount(before.live, before.other, before.beyond).plus(span.taken[place])
            had = had.minus(span.given_back[place]).minus(Amount(live=freed[place]))
            children = {pid: size for pid, size in before.children.items() if pid not in span.orphaned}
            expected = before._replace(live=had.live, other=had.other, beyond=had.rest, children=children)
            mine = {pid: size for pid, size in after.children.items() if pid not in lent}
            part = growth(expected, after._replace(children=mine))
            found.append(part if span.fresh else Growth(part.live, 0, {}, 0))
        return found

    def _name(self, grown: list[Growth]) -> Leak | None:
        """Find what holds the growth; what hangs on a living fixture is the fixture's."""
        found = self._live()
        new = Ours(tensor for tensor in found if not self._is_known(tensor))
        self._remember(found)
        owners = self._owners()
        for tensor in new:
            if id(tensor) in owners:
                place, size = _device(tensor), tensors.size_of(tensor)
                owned = owners[id(tensor)]
                owned.amounts[place] = owned.amounts[place].plus(Amount(live=size))
                grown[place] = grown[place]._replace(live=grown[place].live - size)
        size = _total(grown)
        if size < FLOOR:
            return None
        mine = Ours(tensor for tensor in new if id(tensor) not in owners)
        self._left += [(weakref.ref(tensor), tensors.size_of(tensor), _device(tensor)) for tensor in mine]
        shown = mine if sum(part.live for part in grown) >= FLOOR else Ours()
        referrers = {id(tensor): referrer for tensor, referrer in self._frozen.alive()}
        children = {pid for part in grown for pid, held in part.children.items() if held >= FLOOR}
        unlisted = any(part.rest >= FLOOR for part in grown)
        return Leak(size, tuple(tensors.listed(shown, referrers)), tuple(sorted(children)), unlisted=unlisted)

    def _owners(self) -> dict[int, _Owned]:
        """The living fixture that each tensor hangs on, by the tensor's `id`."""
        torch = torchstate.loaded()
        if torch is None:
            return {}
        return {
            id(tensor): owned for owned in self._fixtures.values() for tensor in reachable(owned.values(), torch.Tensor)
        }

    def _fixtures_shrank(self, grown: list[Growth]) -> None:
        """Memory that went away in a test was a fixture's (an engine put to sleep): it will not give it back twice."""
        for place, part in enumerate(grown):
            shrink = -part.live
            for owned in reversed(list(self._fixtures.values())):
                if shrink <= 0:
                    break
                gone = min(shrink, owned.amounts[place].live)
                owned.amounts[place] = owned.amounts[place].minus(Amount(live=gone))
                shrink -= gone

    def _live(self) -> Ours:
        return tensors.by_storage(chain(tensors.live(), (tensor for tensor, _ in self._frozen.alive())))

    def _remember(self, found: Iterable[Any]) -> None:
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
