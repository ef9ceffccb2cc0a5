"""Cases in the form that most have, taken straight from the text: plain passes, and cases with a child or two.

What these patterns match is well-formed but for what `<` and `&` may do in values and text; that is looked for by
`fit`. All else goes the long way, tag by tag.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from . import limits
from .excerpt import Excerpt, clip
from .junit_case import FINAL, PASSED, SKIPS, Case, Part, Suite, category
from .junit_playwright import ATTACHMENT
from .xmlgrammar import CDATA, PAIRS
from .xmltext import attribute, flaw, flaw_of_content, plain

# Attributes that a case may have here. Any other might change its outcome, or what it is.
KEYS = frozenset({"classname", "class", "name", "time", "file", "line", "assertions"})
_OUTPUT = ("system-out", "system-err")
_CHILDREN = "|".join([*_OUTPUT, *FINAL, *sorted(SKIPS, reverse=True)])  # `skipped` before `skip`
_CATEGORY = {kind: category({kind}, "", "") for kind in (*_OUTPUT, *FINAL, *SKIPS)}
_VALUES = r'(?:\s+[\w-]+="[^"<]*"){0,50}'


class Columns(NamedTuple):
    """The values of a run's cases, one list for each attribute; empty where the cases have none."""

    classes: list[str]
    names: list[str]
    times: list[str]
    files: list[str]


@dataclass(slots=True)
class Run:
    """Plain passes that follow each other, as they stand in the file; `keys` are their attributes' names, in order."""

    text: str
    keys: tuple[str, ...]
    cases: int
    _columns: Columns | None = None

    @property
    def named(self) -> bool:
        """Whether the cases have names; an empty one is in no run."""
        return "name" in self.keys

    def names(self) -> list[str]:
        """The cases' names alone."""
        if self._columns is not None or not self.named or "&" in self.text:
            return self.columns().names
        return self.text.split('"')[1 + 2 * self.keys.index("name") :: 2 * len(self.keys)]

    def columns(self) -> Columns:
        """Class, name, time and file of each case."""
        if self._columns is None:
            text, width = self.text, len(self.keys)
            values = text.split('"')[1::2]
            if "&" in text or "\n" in text or "\t" in text:
                values = [attribute(value) for value in values]
            empty = [""] * self.cases
            columns = [empty if place is None else values[place::width] for place in _places(self.keys)]
            self._columns = Columns(*columns)
        return self._columns


@lru_cache(maxsize=64)
def _places(keys: tuple[str, ...]) -> tuple[int | None, ...]:
    """Where class, name, time and file stand among a case's attributes; None for one that is not there."""
    classname = "classname" if "classname" in keys else "class"
    return tuple(keys.index(key) if key in keys else None for key in (classname, "name", "time", "file"))


class Simple(NamedTuple):
    """One case with children, as it stands in the file, in pieces.

    `pieces` are the values of its attributes, then four for each of two children: name, attributes, text, CDATA.
    """

    category: str
    pieces: tuple[str | None, ...]
    keys: tuple[str, ...]


def names_of(entry: Simple) -> tuple[str, str]:
    """The case's class and name; empty where it has none."""
    keys, pieces = entry.keys, entry.pieces
    name = pieces[keys.index("name")] if "name" in keys else None
    key = "classname" if "classname" in keys else "class"
    classname = pieces[keys.index(key)] if key in keys else None
    return attribute(classname or ""), attribute(name or "")


class Patterns(NamedTuple):
    """What matches cases whose attributes have just these names, in this order."""

    keys: tuple[str, ...]
    run: re.Pattern[str]
    simple: re.Pattern[str]


@lru_cache(maxsize=64)
def patterns(keys: tuple[str, ...]) -> Patterns | None:
    """For the keys of a case that was read before: the next ones are mostly alike. None for keys not taken here."""
    if not keys or len(set(keys)) != len(keys) or not KEYS.issuperset(keys):
        return None
    run = "".join(rf'\s+{re.escape(key)}="[^"]{"+" if key == "name" else "*"}"' for key in keys)
    values = "".join(rf'\s+{re.escape(key)}="([^"<]*)"' for key in keys)
    start, content = rf"\s*<({_CHILDREN})({_VALUES})\s*", rf"(?:([^<]*)|{CDATA})"
    first, second = (rf"{start}(?:/>|>{content}</\{len(keys) + group}>)" for group in (1, 5))
    return Patterns(
        keys,
        # At most so many at once: where one is not fit, all have been looked at in vain.
        re.compile(rf"(?:\s*<testcase{run}\s*(?:/>|></testcase>)){{1,128}}"),
        re.compile(rf"\s*<testcase{values}\s*>{first}(?:{second})?\s*</testcase>"),
    )


_USUAL = ("classname", "name", "time")
"""What pytest and most others write: tried first."""
_KEY = re.compile(r'([\w-]+)="[^"]*"')
_FIRST = re.compile(r'\s*<testcase((?:\s+[\w-]+="[^"<]*"){1,50})\s*/?>')


class Taker:
    """Takes simple cases from a text: counts them by outcome, and hands them on to be held."""

    __slots__ = ("_patterns", "counts", "texts")

    def __init__(self, counts: dict[str, int], *, texts: bool) -> None:
        self.counts = counts
        self.texts = texts
        self._patterns = patterns(_USUAL)

    def take(self, buffer: str, at: int, add: Callable[[Suite | Case | Run | Simple, int], None]) -> int:
        """As many as follow each other from `at` on go to `add`; where they end."""
        looked = self._patterns or self._look(buffer, at)
        if looked is None:
            return at
        counts, texts = self.counts, self.texts
        keys, runs, singles = looked
        width = len(keys)
        while True:
            run = runs.match(buffer, at)
            if run is not None:
                cases = run_length(text := run[0], width)
                if not cases:
                    return at
                counts[PASSED] += cases
                add(Run(text, keys, cases), len(text))
                at = run.end()
                if buffer.startswith("</", at):
                    return at
            single = singles.match(buffer, at)
            if single is not None:
                entry = simple(single, keys, texts=texts)
                if entry is None:
                    return at
                counts[entry.category] += 1
                add(entry, single.end() - at if texts else 500)
                at = single.end()
            elif run is None:
                looked = None if buffer.startswith("</", at) else self._look(buffer, at)
                if looked is None:
                    return at
                keys, runs, singles = looked
                width = len(keys)

    def _look(self, buffer: str, at: int) -> Patterns | None:
        """What to take from now on, where a case of other attributes stands at `at`; None where none does."""
        first = _FIRST.match(buffer, at)
        found = patterns(tuple(_KEY.findall(first[1]))) if first is not None else None
        if found is None or found is self._patterns:
            return None
        self._patterns = found
        return found


def run_length(run: str, width: int) -> int:
    """How many cases of so many attributes a run holds; 0 where a value is too long, or not what XML allows."""
    cases, odd = divmod(run.count('"'), 2 * width)
    if len(run) > limits.VALUE and max(map(len, run.split('"'))) > limits.VALUE:
        return 0
    if odd or ("&" in run and flaw(run)):
        return 0
    # Each case has one `<`, or with an end tag two: which ones stand in a value must then be looked at.
    in_values = "<" in "".join(run.split('"')[1::2]) if "</" in run else run.count("<") != cases
    return 0 if in_values else cases


def simple(found: re.Match[str], keys: tuple[str, ...], *, texts: bool) -> Simple | None:
    """A case of the simple form, with or without its texts; None where something in it is not what XML allows."""
    pieces, width = found.groups(), len(keys)
    first, second = pieces[width], pieces[width + 4]
    if (text := pieces[width + 2]) and flaw_of_content(text):
        return None
    for values in pieces[: width + 2]:
        if len(values) > limits.VALUE or ("&" in values and flaw(values)):
            return None
    if _repeats(pieces[width + 1]):
        return None
    if second is None:
        what = _CATEGORY[first]
    elif (
        len(pieces[width + 5]) > limits.VALUE
        or flaw_of_content(pieces[width + 6] or "")
        or flaw(pieces[width + 5])
        or _repeats(pieces[width + 5])
    ):
        return None
    else:
        what = category({first, second}, "", "")
    if not texts:
        pieces = (*pieces[: width + 2], None, None, *pieces[width + 4 : width + 6], None, None)
    return Simple(what, pieces, keys)


def _repeats(attributes: str) -> bool:
    if attributes.count('="') < 2:
        return False
    names = [name for name, _value in PAIRS.findall(attributes)]
    return len(set(names)) < len(names)


def case_of(entry: Simple) -> Case:
    """The case that the pieces tell of."""
    width = len(entry.keys)
    values = {key: attribute(piece or "") for key, piece in zip(entry.keys, entry.pieces, strict=False)}
    parts = []
    printed = []
    for place in (width, width + 4):
        kind, attributes, text, literal = entry.pieces[place : place + 4]
        if kind in _OUTPUT:
            printed.append((literal or text or "", literal is not None))
        elif kind:
            get = {key: attribute(value) for key, value in PAIRS.findall(attributes or "")}.get
            body = clip(literal if literal is not None else plain(text or ""))
            message = clip(get("message", ""), limit=limits.MESSAGE)
            parts.append(Part(kind, message, get("type", ""), body, get("time", ""), get("timestamp", "")))
    return Case(
        values.get("classname") or values.get("class", ""),
        values.get("name", ""),
        values.get("file", ""),
        values.get("time", ""),
        "",
        entry.category,
        tuple(parts),
        _printed(printed, entry.category) if printed else "",
        (),
    )


def _printed(pieces: list[tuple[str, bool]], category: str) -> str:
    """What is kept of a case's output, given in pieces with whether they are literal."""
    if category not in "fe" and not any("[" in piece or "&" in piece for piece, _literal in pieces):
        return ""  # as `kept_output` would find
    output = Excerpt()
    for piece, literal in pieces:
        output.add(piece, literal=literal)
    return kept_output(output, category)


def kept_output(output: Excerpt | None, category: str) -> str:
    """What a case printed, where it failed or the output tells of attempts."""
    if output is None:
        return ""
    text = output.text()
    return text if category in "fe" or ATTACHMENT in text else ""


def pass_of(classname: str, name: str, time: str, file: str) -> Case:
    """A row as a case like any other."""
    return Case(classname, name, file, time, "", PASSED, (), "", ())
