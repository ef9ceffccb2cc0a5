"""From XML elements to cases: what the reader tells, tag by tag, put together and counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import limits
from .excerpt import Excerpt, clip
from .junit_case import EARLIER, FINAL, NO_SUITE, ONE_ATTEMPT, PASSED, SKIPS, XFAIL, Case, Part, Suite, category
from .junit_dialect import Dialect, dialect_of, is_go_property, is_googletest, own_property
from .junit_held import Held
from .junit_simple import Run, Simple, Taker, kept_output
from .junit_values import count
from .problems import Problems
from .xmltext import plain

_PARTS = frozenset(FINAL) | SKIPS | EARLIER
_OUTPUT = frozenset({"system-out", "system-err"})


@dataclass(slots=True)
class OpenSuite:
    """A suite between its tags."""

    suite: Suite
    depth: int
    cases: int = 0
    attempts: int = 0
    nested: bool = False
    parts: list[Part] = field(default_factory=list)


@dataclass(slots=True)
class OpenCase:
    """A case between its tags."""

    attributes: dict[str, str]
    depth: int
    kinds: set[str] = field(default_factory=set)
    parts: list[Part] = field(default_factory=list)
    output: Excerpt | None = None
    time: Excerpt | None = None
    facts: list[str] = field(default_factory=list)


class JunitBuilder:
    """Told of elements by a reader, hands cases to `held`; counts elements by the usual convention on the way."""

    def __init__(self, held: Held, problems: Problems, *, texts: bool) -> None:
        self.wants_text = False
        self.suites = 0
        self.counts = {"p": 0, "f": 0, "e": 0, "s": 0}
        self.filled = 0
        """Suites that hold cases themselves."""
        self.uncertain = False
        """Whether some elements may be reruns: a suite that is not pytest's, or has not as many cases as it says."""
        self.inner_reruns = 0
        """Earlier attempts that stand inside their cases."""
        self.inner_flaky = 0
        """Cases with such attempts that passed in the end."""
        self._held = held
        self._texts = texts
        self._problems = problems
        self._depth = 0
        self._root: dict[str, str] | None = None
        self._in: list[OpenSuite] = [OpenSuite(NO_SUITE, 0)]
        self._held_suite: Suite | None = None
        self._case: OpenCase | None = None
        self._outer: list[OpenCase] = []
        self._part: tuple[str, dict[str, str]] | None = None
        self._sink: Excerpt | None = None
        self._part_text: Excerpt | None = None
        self._taker = Taker(self.counts, texts=texts)

    @property
    def cases(self) -> int:
        """How many cases were read."""
        return sum(self.counts.values())

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        name = name.rpartition(":")[2]
        if self._root is None:
            self._root = attributes
            self._in[0].suite = NO_SUITE._replace(dialect=dialect_of(attributes, {}))
        if name == "testcase":
            self._start_case(attributes)
        elif name == "testsuite":
            self._start_suite(attributes)
        elif self._case is not None:
            self._start_in_case(self._case, name, attributes)
        elif name in FINAL and self._depth == self._in[-1].depth + 1 and self._in[-1].depth:
            self._start_part(name, attributes)
        elif name == "property" and is_go_property(attributes.get("name", "")):
            inside = self._in[-1]
            if not inside.cases and inside.suite.dialect is Dialect.OTHER:
                inside.suite = inside.suite._replace(dialect=Dialect.GO)

    def leaf(self, name: str, attributes: dict[str, str], text: str, *, literal: bool) -> None:
        """An element that holds text alone."""
        case = self._case
        if case is not None and self._depth == case.depth and ":" not in name:
            if name in _PARTS:
                case.kinds.add(name)
                self._keep(case.parts, name, attributes, clip(text if literal else plain(text)))
                return
            if name in _OUTPUT:
                if case.output is None:
                    case.output = Excerpt()
                case.output.add(text, literal=literal)
                return
        self.start(name, attributes)
        self.text(text, literal=literal)
        self.end()

    def text(self, piece: str, *, literal: bool) -> None:
        """Text of the innermost element, which asked for it."""
        if self._sink is not None:
            self._sink.add(piece, literal=literal)

    def end(self) -> None:
        """The innermost element ends."""
        depth = self._depth
        self._depth -= 1
        case = self._case
        if case is not None:
            if depth == case.depth:
                self._end_case(case)
            elif depth == case.depth + 1:
                self._end_part(case.parts)
        elif depth == self._in[-1].depth and len(self._in) > 1:
            self._end_suite(self._in.pop())
        elif self._part is not None and depth == self._in[-1].depth + 1:
            self._end_part(self._in[-1].parts)

    def finish(self, *, cut: bool) -> None:
        """No more elements; `cut` when some were still open."""
        while self._case is not None:
            case = self._case
            if self._part is not None and self._part[0] in FINAL:
                self._end_part(case.parts)
            if case.kinds & FINAL.keys():
                self._end_case(case)
            else:
                self._problems.damage("the last case is cut before its outcome: not counted")
                self._case = self._outer.pop() if self._outer else None
            self._part = None
        while len(self._in) > 1:
            self._end_suite(self._in.pop(), cut=cut)
        self._end_suite(self._in.pop())

    # Suites

    def _start_suite(self, attributes: dict[str, str]) -> None:
        self.suites += 1
        self._in[-1].nested = True
        get = attributes.get
        suite = Suite(
            self.suites,
            get("name", ""),
            get("hostname", ""),
            get("timestamp", ""),
            count(get("tests", "")),
            dialect_of(self._root or {}, attributes),
        )
        self._in.append(OpenSuite(suite, self._depth))

    def _end_suite(self, ended: OpenSuite, *, cut: bool = False) -> None:
        suite = ended.suite
        self.filled += ended.cases > 0
        if ended.cases and (suite.dialect is not Dialect.PYTEST or ended.cases != suite.declared):
            self.uncertain = True
        # pytest counts subtests that passed, of which nothing is written.
        held = ended.attempts if suite.dialect is not Dialect.PYTEST or not ended.attempts else suite.declared or 0
        if suite.declared and not ended.nested and not cut and suite.declared > held:
            self._problems.note("a suite declares more tests than it holds", f"suite {suite.name[:80]}")
        if ended.parts:
            self._problems.note("a suite failed outside its cases", f"suite {suite.name[:80]}")
            self._hold(Case(suite.name, "", "", "", "", "suite", tuple(ended.parts), "", (ONE_ATTEMPT,)), suite)

    # Cases

    def _start_case(self, attributes: dict[str, str]) -> None:
        if self._case is not None:
            self._outer.append(self._case)
        self._case = OpenCase(attributes, self._depth)
        self._part = self._sink = None
        self.wants_text = False

    def _end_case(self, open_case: OpenCase) -> None:
        attributes, kinds = open_case.attributes, open_case.kinds
        get = attributes.get
        what = category(kinds, get("status", ""), get("result", ""))
        self.counts[what] += 1
        inside = self._in[-1]
        inside.cases += 1
        earlier = sum(part.kind in EARLIER for part in open_case.parts)
        inside.attempts += 1 + earlier
        self.inner_reruns += earlier
        self.inner_flaky += bool(earlier) and (what == PASSED or any(part.type == XFAIL for part in open_case.parts))
        time = get("time") or (open_case.time.text() if open_case.time else "")
        output = kept_output(open_case.output, what)
        case = Case(
            get("classname") or get("class", ""),
            get("name", ""),
            get("file", ""),
            time,
            get("timestamp", ""),
            what,
            tuple(open_case.parts),
            output,
            (ONE_ATTEMPT,) if is_googletest(attributes) else tuple(open_case.facts),
        )
        self._hold(case, inside.suite)
        self._case = self._outer.pop() if self._outer else None

    def _hold(self, case: Case, suite: Suite) -> None:
        size = 200 + len(case.classname) + len(case.name) + len(case.output)
        self._enter(suite)
        self._held.add(case, size + sum(len(part.message) + len(part.text) for part in case.parts))

    def _hold_next(self, entry: Suite | Case | Run | Simple, size: int) -> None:
        self._enter(self._in[-1].suite)
        self._held.add(entry, size)

    def _enter(self, suite: Suite) -> None:
        """A suite stands before its cases, unless the ones before were of the same."""
        if self._held_suite is not suite:
            self._held_suite = suite
            self._held.add(suite, len(suite.name))

    def bulk(self, buffer: str, at: int) -> int:
        """Simple cases from `at` on, as many as follow each other; where they end."""
        if self._case is not None:
            return at
        inside, before = self._in[-1], self.cases
        self._taker.texts = self._texts or inside.suite.dialect is Dialect.PLAYWRIGHT
        entered = self._held_suite is inside.suite
        at = self._taker.take(buffer, at, self._held.add if entered else self._hold_next)
        taken = self.cases - before
        inside.cases += taken
        inside.attempts += taken
        return at

    # Children of cases, and failures of suites

    def _start_in_case(self, case: OpenCase, name: str, attributes: dict[str, str]) -> None:
        below = self._depth - case.depth
        if below == 1:
            if name in _PARTS:
                case.kinds.add(name)
                self._start_part(name, attributes)
            elif name in _OUTPUT:
                case.output = self._sink = case.output or Excerpt()
                self.wants_text = True
            elif name == "time" and "time" not in case.attributes:
                case.time = self._sink = Excerpt()
                self.wants_text = True
        elif name == "property" and (fact := own_property(attributes)) and len(case.facts) < limits.PARTS:
            case.facts.append(fact)

    def _start_part(self, name: str, attributes: dict[str, str]) -> None:
        self._part = (name, attributes)
        self._part_text = self._sink = Excerpt()
        self.wants_text = True

    def _end_part(self, parts: list[Part]) -> None:
        if self._part is not None and self._part_text is not None:
            self._keep(parts, *self._part, self._part_text.text())
        self._part = self._part_text = self._sink = None
        self.wants_text = False

    def _keep(self, parts: list[Part], name: str, attributes: dict[str, str], text: str) -> None:
        if len(parts) < limits.PARTS:
            get = attributes.get
            message = clip(get("message", ""), limit=limits.MESSAGE)
            parts.append(Part(name, message, get("type", ""), text, get("time", ""), get("timestamp", "")))
        else:
            self._problems.note(f"more than {limits.PARTS} failures in one case: the rest is not kept")
