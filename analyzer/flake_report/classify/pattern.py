"""A signature's regular expression, read far enough to derive from it what hyperscan looks for in raw bytes.

The language is the part of `re` that both engines share: literals, classes, groups, alternatives, quantifiers,
`^`, `$`, `\\b`. Look-around, back-references and possessive forms are refused, and so are repeats inside unbounded
repeats, on which `re` can take exponential time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

_BOUNDED_REPEAT = 512
"""The longest counted repeat: each count is a state of the automaton."""

_MOST_OPEN = 6
"""Unbounded repeats of letters on one way through a pattern: each multiplies what `re` may try on a hostile line."""

_QUANTIFIER = re.compile(r"([*+?]|\{(\d+)(,(\d*))?\})([?+]?)")
_WORD = re.compile(r"[A-Za-z0-9_]+(?![*+?{])")
_GROUP_OPEN = re.compile(r"\((\?:|\?P<[A-Za-z_]\w*>|(?!\?))")
_CLASS = re.compile(r"\[\^?(?:\\.|[^\\])(?:\\.|[^\]\\])*\]")
_SET_OPERATION = re.compile(r"(?<!\\)\[|--|&&|~~|\|\|")
"""What `re` warns of in a class, for it may come to mean more."""
_SETS = frozenset("dDwWsS")
_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}


class PatternError(ValueError):
    """The pattern is not one that both engines take, or it explodes; the text says why."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Characters that must stand there: a whole word, or one of another kind; only a single one is ever repeated."""

    text: str
    low: int = 1
    high: int | None = 1


@dataclass(frozen=True, slots=True)
class CharSet:
    """One character out of a set: the source text of a class, of `.` or of an escape such as `\\d`."""

    source: str
    low: int = 1
    high: int | None = 1

    @property
    def blank(self) -> bool:
        """Whether the set is white space."""
        return self.source in (r"\s", "[ ]", r"[ \t]")

    @property
    def breaks(self) -> bool:
        """Whether the set takes a line break: a place where a message may go on in the next line."""
        return self.source == r"\s"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place, not a character: `^`, `$`, `\\b`."""

    source: str


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives, each a sequence."""

    alternatives: tuple[tuple[Item, ...], ...]
    low: int = 1
    high: int | None = 1


Item: TypeAlias = Literal | CharSet | Anchor | Group


@dataclass(frozen=True, slots=True)
class Pattern:
    """A parsed pattern. `caseless` stands for a leading `(?i)`."""

    items: tuple[Item, ...]
    caseless: bool


def parse_pattern(source: str) -> Pattern:
    """The parts of `source`; raises `PatternError` with the reason where it is refused."""
    caseless = source.startswith("(?i)")
    reader = _Reader(source, 4 if caseless else 0)
    alternatives = reader.alternatives()
    if reader.at < len(source):
        raise PatternError("a closing bracket has no opening one")
    items = alternatives[0] if len(alternatives) == 1 else (Group(alternatives),)
    if _open_repeats(items) > _MOST_OPEN:
        raise PatternError(f"it explodes: more than {_MOST_OPEN} unbounded repeats follow each other")
    return Pattern(items, caseless)


class _Reader:
    """Reads one pattern from left to right; `at` is the next character."""

    def __init__(self, source: str, at: int) -> None:
        self.source = source
        self.at = at

    def alternatives(self) -> tuple[tuple[Item, ...], ...]:
        branches: list[tuple[Item, ...]] = []
        items: list[Item] = []
        while self.at < len(self.source) and self.source[self.at] != ")":
            if self.source[self.at] == "|":
                self.at += 1
                branches.append(tuple(items))
                items = []
            elif word := _WORD.match(self.source, self.at):
                self.at = word.end()
                items.append(Literal(word.group()))
            else:
                items.append(self._quantified(self._atom()))
        branches.append(tuple(items))
        return tuple(branches)

    def _atom(self) -> Item:
        char = self.source[self.at]
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        self.at += 1
        if char == "\\":
            return self._escape()
        if char == ".":
            return CharSet(".")
        if char in "^$":
            return Anchor(char)
        if char in "*+?{":
            raise PatternError(f"the quantifier {char!r} has nothing to repeat; write \\{char} for the character")
        return Literal(char)

    def _group(self) -> Group:
        opening = _GROUP_OPEN.match(self.source, self.at)
        if opening is None:
            raise PatternError("look-around, back-references and inline flags other than a leading (?i) are not taken")
        self.at = opening.end()
        group = Group(self.alternatives())
        if self.at >= len(self.source):
            raise PatternError("a group is not closed")
        self.at += 1
        return group

    def _class(self) -> CharSet:
        found = _CLASS.match(self.source, self.at)
        if found is None:
            raise PatternError("a character class is not closed")
        if _SET_OPERATION.search(found.group(), 1):
            raise PatternError("a character class holds '[' or a doubled mark; put a backslash before it")
        if not found.group().isascii():
            raise PatternError("a character class holds a character that is not ASCII; write alternatives instead")
        self.at = found.end()
        return CharSet(found.group())

    def _escape(self) -> Item:
        if self.at >= len(self.source):
            raise PatternError("the pattern ends in a single backslash")
        char = self.source[self.at]
        self.at += 1
        if char in _SETS:
            return CharSet("\\" + char)
        if char in "bB":
            return Anchor("\\" + char)
        if char in _CONTROL:
            return Literal(_CONTROL[char])
        if char.isalnum():
            raise PatternError(f"the escape \\{char} is not taken")
        return Literal(char)

    def _quantified(self, item: Item) -> Item:
        found = _QUANTIFIER.match(self.source, self.at)
        if found is None:
            return item
        if isinstance(item, Anchor):
            raise PatternError(f"the anchor {item.source} cannot be repeated")
        if found.group(5) == "+":
            raise PatternError("possessive quantifiers are not taken")
        self.at = found.end()
        low, high = _bounds(found)
        if max(low, high or 0) > _BOUNDED_REPEAT:
            raise PatternError(f"it explodes: a counted repeat goes beyond {_BOUNDED_REPEAT}")
        if isinstance(item, Group) and (high is None or high > 1) and any(map(_explodes, item.alternatives)):
            raise PatternError(
                "it explodes: inside a repeated group stands a repeat, and nothing that tells rounds apart"
            )
        return replace(item, low=low, high=high)


def _bounds(quantifier: re.Match[str]) -> tuple[int, int | None]:
    short = {"*": (0, None), "+": (1, None), "?": (0, 1)}
    if quantifier.group(1) in short:
        return short[quantifier.group(1)]
    low = int(quantifier.group(2))
    if quantifier.group(3) is None:
        return low, low
    return low, int(quantifier.group(4)) if quantifier.group(4) else None


def _explodes(branch: tuple[Item, ...]) -> bool:
    """Whether a repeated branch can be split into rounds in many ways: `re` would try them all.

    It cannot where it holds a character that none of its own unbounded repeats takes.
    """
    takers = list(_unbounded(branch))
    return bool(takers) and all(
        any(re.match(taker.source, char) for taker in takers)
        for item in branch
        if isinstance(item, Literal) and item.low
        for char in item.text
    )


def _unbounded(branch: tuple[Item, ...]) -> Iterator[CharSet]:
    """The sets that are repeated without bound in a branch, at any depth."""
    for item in branch:
        if isinstance(item, Group):
            for inner in item.alternatives:
                yield from _unbounded(inner)
        elif not isinstance(item, Anchor) and item.high is None:
            yield item if isinstance(item, CharSet) else CharSet(re.escape(item.text))


def _open_repeats(items: tuple[Item, ...]) -> int:
    """The most unbounded repeats of sets with letters on any way through the items."""
    total = 0
    for item in items:
        if isinstance(item, Group):
            total += max(map(_open_repeats, item.alternatives))
        elif isinstance(item, CharSet) and item.high is None and re.match(item.source, "a"):
            total += 1
    return total
