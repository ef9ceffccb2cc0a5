"""Which elements of a file are attempts of one test, which are other tests of that name, and which may be either."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from flake_report.model.results import Phase

from . import limits
from .junit_case import NO_SUITE, PASSED, Case, Suite
from .junit_dialect import Dialect
from .junit_held import Entry, Held
from .junit_simple import Run, Simple, case_of
from .junit_tries import pytest_phase
from .problems import Problems
from .xmltext import attribute

Key: TypeAlias = int
"""The hash of an identity: 64 bits, so that no two are equal by chance."""

TEARDOWN = "t"
BAD = frozenset("fet")
_ROUGH = 1 << 23  # places of the rough pass, one byte each
APART_BY_HOST = frozenset({Dialect.PLAYWRIGHT, Dialect.OWN})


class Meaning(Enum):
    """What several elements of one identity are."""

    RUNS = "attempts, each with the outcome it shows"
    RERUNS = "attempts: those that read as passes failed, but for the last"
    LAST = "attempts, of which only the last can be told"
    APART = "other tests of the same name"


@dataclass(slots=True)
class Group:
    """The elements of one identity, in file order: for each the letter of its outcome, and its suite.

    A test that failed and then failed in teardown too is written as two elements: the second has the letter `t`.
    """

    suites: list[Suite] = field(default_factory=list)
    letters: str = ""
    meaning: Meaning = Meaning.APART
    known: bool = True

    def attempts(self) -> str:
        """The letters, without teardown errors that belong to the element before."""
        kept = ""
        for letter in self.letters:
            if letter != TEARDOWN or not kept or kept[-1] not in BAD:
                kept += letter
        return kept


def identity(suite: Suite, classname: str, name: str) -> Key:
    """Suites of pytest are sessions and stand for themselves; elsewhere one name in two suites is a question."""
    if suite.dialect is Dialect.PYTEST:
        if classname:
            return hash((suite.number, classname.removeprefix("tests."), name))
        return hash((suite.number, "", name.removeprefix("tests.")))
    if suite.dialect in APART_BY_HOST:
        return hash((suite.name if suite.dialect is Dialect.OWN else "", suite.hostname, classname, name))
    return hash((classname, name))


@dataclass(slots=True)
class Grouping:
    """Every identity that has more than one element; and the pytest suites that hold attempts of nobody knows what.

    Under xdist and pytest-rerunfailures, an attempt that crashed its worker is an element without any name.
    """

    groups: dict[Key, Group] = field(default_factory=dict)
    losing: frozenset[int] = frozenset()


def grouping_of(held: Held, cases: int, problems: Problems, *, more: bool) -> Grouping:
    """What the elements of a file are to each other; `more`: attempts are made of them later."""
    if cases <= limits.EXACT_CASES and _all_different(held, cases, more=more):
        return Grouping()
    twice = _exact(held, None) if cases <= limits.EXACT_CASES else _exact(held, _rough(held))
    if len(twice) > limits.REPEATED:
        problems.note(f"more than {limits.REPEATED:,} tests have several elements: the rest stays apart")
        twice = set(list(twice)[: limits.REPEATED])
    groups: dict[Key, Group] = defaultdict(Group)
    events: dict[int, int] = defaultdict(int)
    losing: set[int] = set()
    for key, suite, letter, outcomes in _elements(held):
        if suite.dialect is Dialect.PYTEST:
            events[suite.number] += outcomes
            if key is None:
                losing.add(suite.number)
        if key in twice:
            group = groups[key]
            group.letters += letter
            if not group.suites or group.suites[-1] is not suite:
                group.suites.append(suite)
    _decide(groups, events)
    return Grouping(dict(groups), frozenset(losing))


class Names:
    """The names of all cases, whatever their classes: where no two are the same, no two cases are one test.

    `more`: their other values will be asked for as well.
    """

    def __init__(self, *, more: bool = False) -> None:
        self._seen: set[str] = set()
        self._more = more

    def add(self, entry: Entry, _size: int = 0) -> None:
        if isinstance(entry, Run):
            self._seen.update(entry.columns().names if self._more else entry.names())
        elif isinstance(entry, Simple):
            name = entry.pieces[entry.keys.index("name")] if "name" in entry.keys else ""
            self._seen.add(attribute(name or ""))
        elif isinstance(entry, Case):
            self._seen.add(entry.name)

    def differ(self, cases: int) -> bool:
        """Whether so many cases all have names, no two the same."""
        # A module that could not be collected has a name that may lose its first part.
        return len(self._seen) == cases and "" not in self._seen and "tests." not in "\n".join(self._seen)


def _all_different(held: Held, cases: int, *, more: bool) -> bool:
    names = Names(more=more)
    for entry in held:
        names.add(entry)
    return names.differ(cases)


def _elements(held: Held) -> Iterator[tuple[Key | None, Suite, str, int]]:
    """For each case: its identity, suite, letter, and how many outcomes pytest would count for it.

    Nameless cases are left out, they are never the same; but for those of pytest, whose identity is None.
    """
    suite = NO_SUITE
    for entry in held:
        if isinstance(entry, Suite):
            suite = entry
        elif isinstance(entry, Run):
            classes, names, _times, _files = entry.columns()
            for classname, name in zip(classes, names, strict=True):
                if name or suite.dialect is Dialect.PYTEST:
                    yield identity(suite, classname, name) if name else None, suite, PASSED, 1
        else:
            case = case_of(entry) if isinstance(entry, Simple) else entry
            if case.name or suite.dialect is Dialect.PYTEST:
                letter = _letter(case, suite)
                outcomes = 2 if letter == TEARDOWN and len(case.parts) == 1 else max(1, len(case.parts))
                yield identity(suite, case.classname, case.name) if case.name else None, suite, letter, outcomes


def _letter(case: Case, suite: Suite) -> str:
    if case.category == "e" and suite.dialect is Dialect.PYTEST:
        final = next((part for part in case.parts if part.kind == "error"), None)
        if final and pytest_phase("error", final.message)[0] is Phase.TEARDOWN:
            return TEARDOWN
    return case.category


def _exact(held: Held, among: set[Key] | None) -> set[Key]:
    """Identities that come twice, of all or `among` those given."""
    seen: set[Key] = set()
    twice: set[Key] = set()
    for key, *_rest in _elements(held):
        if key is not None and (among is None or key in among):
            (twice if key in seen else seen).add(key)
    return twice


def _rough(held: Held) -> set[Key]:
    """Identities that may come twice: few of those that do not are among them, and all that do."""
    marked = bytearray(_ROUGH)
    likely: set[Key] = set()
    for key, *_rest in _elements(held):
        if key is None:
            continue
        place = key % _ROUGH
        if marked[place] and len(likely) < 4 * limits.REPEATED:
            likely.add(key)
        marked[place] = 1
    return likely


def _decide(groups: dict[Key, Group], events: dict[int, int]) -> None:
    doubled: dict[int, int] = defaultdict(int)
    for group in groups.values():
        doubled[group.suites[0].number] += len(group.letters) - len(group.attempts())
    for group in groups.values():
        suite = group.suites[0]
        if suite.dialect is Dialect.PYTEST:
            counted = suite.declared
            reruns = counted is not None and events[suite.number] - doubled[suite.number] > counted
            _decide_pytest(group, reruns=reruns)
        elif suite.dialect is Dialect.GO and len(group.suites) == 1:
            group.meaning = Meaning.RUNS
            # Reruns follow failures, and gotestsum writes failures first: after a pass, the order is not known.
            group.known = BAD.issuperset(group.letters[:-1]) or len(set(group.letters)) == 1
        else:
            # A failure followed by anything of the same name may have been run again.
            group.known = len(group.suites) > 1 or not BAD.intersection(group.letters[:-1])


def _decide_pytest(group: Group, *, reruns: bool) -> None:
    """`reruns`: the suite shows more outcomes than pytest counted, and attempts to be run again are what it leaves out.

    Where it does not, a test may have been asked for twice; or pytest counted what leaves no element (each passed
    subtest, and the call of an attempt that failed in teardown), which may hide reruns. Only the last is sure then.
    """
    if PASSED not in group.attempts()[:-1]:
        group.meaning = Meaning.RUNS
    elif reruns:
        group.meaning = Meaning.RERUNS
    else:
        group.meaning, group.known = Meaning.LAST, False
