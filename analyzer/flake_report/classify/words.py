"""The words of a pattern, and how rare each is in a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from .pattern import Anchor, CharSet, Group, Item, Literal

GOOD = 12.0
"""A score at which a text is rare enough."""
_OF_COMMON = 2.0
_OF_SHOUT = 3.0
"""A common word in capitals: levels and outcomes."""
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
    api data log import export python pip main request requests response
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


def runs(items: Sequence[Item]) -> list[list[Token]]:
    """The stretches of a sequence that every match must hold, as tokens; what varies lies between them.

    Anchors vanish: they say where clean text begins, and in raw bytes a stamp or a colour stands before it.
    """
    found: list[list[Token]] = []
    run: list[Literal | CharSet] = []
    for item in items:
        if isinstance(item, Literal | CharSet) and (_blank(item) or _once(item)):
            run.append(item)
        elif not isinstance(item, Anchor):
            found.append(list(_tokens(run)))
            run = []
    return [*found, list(_tokens(run))]


def _once(item: Literal | CharSet) -> bool:
    return isinstance(item, Literal) and (item.low, item.high) == (1, 1)


def _blank(item: Literal | CharSet) -> bool:
    """One blank or more."""
    return item.low > 0 and (item.blank if isinstance(item, CharSet) else item.char == " ")


def _tokens(run: Sequence[Literal | CharSet]) -> Iterator[Token]:
    for word, group in groupby(run, key=_in_word):
        members = list(group)
        text = "".join(item.char if isinstance(item, Literal) else " " for item in members)
        loose = any(_blank(item) and item.high != 1 for item in members)
        breaks = any(isinstance(item, CharSet) and item.breaks for item in members)
        yield Token(text, word, _score(text, word=word), loose, breaks)


def _in_word(item: Literal | CharSet) -> bool:
    return isinstance(item, Literal) and (item.char.isalnum() or item.char == "_" or not item.char.isascii())


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
