"""Which elements of a file are attempts of one test, which are other tests of that name, and which may be either."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from flake_report.model.results import Phase

from . import limits
from .junit_case import PASSED, Case, Run, Suite
from .junit_dialect import Dialect
from .junit_held import Held
from .junit_rows import rows
from .junit_tries import pytest_phase
from .problems import Problems

Key = int
"""The hash of an identity: 64 bits, so that no two are equal by chance."""

TEARDOWN = "t"
BAD = frozenset("fet")
_ROUGH = 1 << 23  # places of the rough pass, one byte each
_STANDS_ALONE = frozenset({Dialect.PYTEST, Dialect.GO})


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
    """Suites of pytest and of Go stand for themselves; elsewhere one name in two suites is a question."""
    if suite.dialect in _STANDS_ALONE:
        return hash((suite.number, classname, name))
    if suite.dialect is Dialect.PLAYWRIGHT:
        return hash((suite.hostname, classname, name))
    return hash((classname, name))


def groups_of(held: Held, cases: int, problems: Problems) -> dict[Key, Group]:
    """Every identity that has more than one element, with what that means."""
    twice = _exact(held, None) if cases <= limits.EXACT_CASES else _exact(held, _rough(held))
    if not twice:
        return {}
    if len(twice) > limits.REPEATED:
        problems.note(f"more than {limits.REPEATED:,} tests have several elements: the rest stays apart")
        twice = set(list(twice)[: limits.REPEATED])
    groups: dict[Key, Group] = defaultdict(Group)
    elements: dict[int, int] = defaultdict(int)
    for key, suite, letter in _elements(held):
        elements[suite.number] += 1
        if key in twice:
            group = groups[key]
            group.letters += letter
            if not group.suites or group.suites[-1] is not suite:
                group.suites.append(suite)
    _decide(groups, elements)
    return dict(groups)


def _elements(held: Held) -> Iterator[tuple[Key, Suite, str]]:
    suite: Suite | None = None
    for entry in held:
        if isinstance(entry, Suite):
            suite = entry
        elif suite is None:
            continue
        elif isinstance(entry, Run):
            for classname, name, _time, _file in rows(entry):
                if name:
                    yield identity(suite, classname, name), suite, PASSED
        elif entry.name:
            yield identity(suite, entry.classname, entry.name), suite, _letter(entry, suite)


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
    for key, _suite, _letter in _elements(held):
        if among is None or key in among:
            (twice if key in seen else seen).add(key)
    return twice


def _rough(held: Held) -> set[Key]:
    """Identities that may come twice: few of those that do not are among them, and all that do."""
    marked = bytearray(_ROUGH)
    likely: set[Key] = set()
    for key, _suite, _letter in _elements(held):
        place = key % _ROUGH
        if marked[place] and len(likely) < 4 * limits.REPEATED:
            likely.add(key)
        marked[place] = 1
    return likely


def _decide(groups: dict[Key, Group], elements: dict[int, int]) -> None:
    doubled: dict[int, int] = defaultdict(int)
    empty: dict[int, int] = defaultdict(int)
    for group in groups.values():
        number = group.suites[0].number
        attempts = group.attempts()
        doubled[number] += len(group.letters) - len(attempts)
        empty[number] += attempts[:-1].count(PASSED)
    for group in groups.values():
        suite = group.suites[0]
        if suite.dialect is Dialect.PYTEST:
            beyond = None if suite.declared is None else elements[suite.number] - doubled[suite.number] - suite.declared
            _decide_pytest(group, beyond, empty[suite.number])
        elif suite.dialect is Dialect.GO:
            group.meaning = Meaning.RUNS
            # Reruns follow failures, and gotestsum writes failures first: after a pass, the order is not known.
            group.known = BAD.issuperset(group.letters[:-1])
        else:
            # A failure followed by anything of the same name may have been run again.
            group.known = len(group.suites) > 1 or not BAD.intersection(group.letters[:-1])


def _decide_pytest(group: Group, beyond: int | None, empty: int) -> None:
    """`beyond` is how many elements the suite has more than it counts tests, `empty` how many could be those."""
    if PASSED not in group.attempts()[:-1] or beyond == 0:
        group.meaning = Meaning.RUNS
    elif beyond == empty:
        group.meaning = Meaning.RERUNS
    else:
        group.meaning, group.known = Meaning.LAST, False
