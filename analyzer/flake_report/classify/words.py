"""The words of a pattern, and how rare each is in a log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

from .pattern import Anchor, CharSet, Group, Item, Literal

GOOD = 12.0
"""A score at which a text is rare enough."""
_OF_COMMON = 2.0
_OF_SHOUT = 3.0
"""A common word in capitals: levels and outcomes."""
COLOURED = _OF_SHOUT
"""Words up to this score are those that tools like to colour: levels, outcomes, process names."""
_OF_PROSE = 8.0
"""The most that a word of letters alone can score: other lines may hold it too."""
_PER_MIXED = 3.0
"""For each character of a name with digits or underscores: it is one tool's own."""
_PER_RARE = 4.0
"""For each character beyond ASCII."""
_PER_MARK = 0.4

# Words of which logs are full: they tell little.
_WORDS = """
    cpp cc cu cuh h hpp c py pyi go java kt rs js ts tsx jsx vue svelte scala groovy inl inc swift proto
    EngineCore Worker WorkerProc APIServer Engine Core engine core
    the a an and or of to in is are was be been has have had not no on at for with by from as it its this that
    error Error ERROR errors failed Failed FAILED failure FAIL fail warning Warning WARNING info INFO debug DEBUG
    file File files line test tests Test job step run running Running process command code exit exited status
    could cannot Could Cannot unable Unable found more than after before while when all any some must should
    build image name version package module task Task worker server host path url http https com org git
    message type value size memory device GPU CUDA time seconds new set get use used out up into end start started
    api data log import export loading Loading python pip main request requests response
"""
_COMMON = frozenset(_WORDS.split())


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or what stands between two words.

    `score` is how rare it is, in letters of a rare word. `loose`: blanks that may be doubled. `breaks`: a line may end
    here.
    """

    text: str
    word: bool
    score: float
    loose: bool = False
    breaks: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A part that is one of a few sequences: a group, a class of two letters, either maybe absent."""

    branches: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """A part that varies."""


Piece: TypeAlias = Token | Choice | Gap

_GAP = Gap()
_FEW_LETTERS = re.compile(r"\[[A-Za-z]{2,3}\]")


def pieces(items: Sequence[Item]) -> tuple[Piece, ...]:
    """A sequence as words, what stands between them, and what varies.

    Anchors vanish: they say where clean text begins, and in raw bytes a stamp or a colour stands before it.
    """
    found: list[Piece] = []
    solid = [item for item in items if not isinstance(item, Anchor)]
    for kind, group in groupby(solid, key=_kind):
        if kind == _VARIES:
            found += [_choice(item) for item in group]
        else:
            found.append(_token(list(group), word=kind == _IN_WORD))
    return tuple(found)


def runs(sequence: Iterable[Piece]) -> list[list[Token]]:
    """The stretches of a sequence that every match must hold; neighbours of one kind are one token."""
    found: list[list[Token]] = [[]]
    for piece in sequence:
        run = found[-1]
        if not isinstance(piece, Token):
            found.append([])
        elif run and run[-1].word == piece.word:
            run[-1] = _joined(run[-1], piece)
        else:
            run.append(piece)
    return found


_VARIES, _IN_WORD, _BETWEEN = range(3)


def _kind(item: Literal | CharSet | Group) -> int:
    if isinstance(item, Literal) and (item.low, item.high) == (1, 1):
        return _IN_WORD if item.text[0].isalnum() or item.text[0] == "_" or not item.text.isascii() else _BETWEEN
    return _BETWEEN if _blank(item) else _VARIES


def _blank(item: Literal | CharSet | Group) -> bool:
    """One blank or more."""
    if isinstance(item, Group) or item.low == 0:
        return False
    return item.blank if isinstance(item, CharSet) else item.text == " "


def _token(members: Sequence[Literal | CharSet | Group], *, word: bool) -> Token:
    text = "".join(item.text if isinstance(item, Literal) else " " for item in members)
    loose = any(_blank(item) and item.high != 1 for item in members)
    return Token(
        text, word, _score(text, word=word), loose, any(isinstance(item, CharSet) and item.breaks for item in members)
    )


def _joined(one: Token, other: Token) -> Token:
    text = one.text + other.text
    score = _score(text, word=one.word)
    return Token(text, one.word, score, one.loose or other.loose, one.breaks or other.breaks)


def _choice(item: Literal | CharSet | Group) -> Choice | Gap:
    if (item.low, item.high) not in ((1, 1), (0, 1)):
        return _GAP
    branches: tuple[tuple[Piece, ...], ...] = ()
    if isinstance(item, Group):
        branches = tuple(pieces(branch) for branch in item.alternatives)
    elif isinstance(item, CharSet) and _FEW_LETTERS.fullmatch(item.source):
        branches = tuple(pieces((Literal(char),)) for char in item.source[1:-1])
    elif isinstance(item, Literal):
        branches = (pieces((Literal(item.text),)),)
    if not branches:
        return _GAP
    return Choice((*branches, ()) if item.low == 0 else branches)


@lru_cache(maxsize=4096)
def _score(text: str, *, word: bool) -> float:
    if not word:
        return _PER_MARK * len(text.replace(" ", ""))
    if text in _COMMON or text.isdigit():
        return _OF_SHOUT if text.isupper() else _OF_COMMON
    if text.isascii() and text.isalpha():
        return min(float(len(text)), _OF_PROSE)
    return min(GOOD, sum(_PER_MIXED if char.isascii() else _PER_RARE for char in text))


def breaks(items: Sequence[Item]) -> bool:
    """Whether a message may go on in the next line."""
    return any(
        (isinstance(item, CharSet) and item.breaks)
        or (isinstance(item, Group) and any(breaks(branch) for branch in item.alternatives))
        for item in items
    )
