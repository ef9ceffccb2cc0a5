"""From a signature's pattern to the literal texts that hyperscan looks for in raw bytes.

A hit only nominates a line: `re` then decides on the clean text. So little is asked for: one or two rare words in a
row that every match must hold. Plain texts compile in milliseconds and scan at the speed of memory; expressions with
room for escapes do neither. Where a tool may colour, stamp or break a text between those two words, the first word
with the escape behind it is looked for as well: ESC, "^[" where a viewer copied it, and a line end where the pattern
says `\\s`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from .pattern import Anchor, CharSet, Group, Item, Literal, Pattern, PatternError

_LEAST = 2
"""A score below which a text would nominate half the log."""
_GOOD = 12
"""A score at which a text is rare enough."""
_FAIR = 5
"""A score at which it is not worth looking into alternatives within alternatives."""
_NEARBY = 2
"""Words from elsewhere in the pattern that are asked for before a line is read."""
_SCORE_OF_COMMON = 2
_SCORE_OF_SHOUT = 3
_SCORE_OF_PROSE = 8
_SCORE_OF_MARK = 0.4
_SHORT = 3
_COST_OF_SHORT = 1.5
_COST_OF_KEY = 0.05
"""What each further text of a row costs: of equals, the fewer win."""
_SCORE_OF_MIXED = 3
_SCORE_OF_RARE = 4
"""For each character of a name with digits or underscores, and for each beyond ASCII: few lines hold them."""
_DEEPEST = 3
"""Parts of a sequence whose alternatives are looked into together."""
_MOST_TEXTS = 400
"""Texts of one row; a pattern of more alternatives than that is refused."""

_FEW_LETTERS = re.compile(r"\[[A-Za-z]{2,3}\]")
_ESCAPES = ("\x1b", "^[")
_ESCAPE_ENDS = ("m", "K", "\x07")
_LINE_ENDS = ("\n", "\r")

# Words of which logs are full: they tell nothing.
_COMMON = frozenset(
    """cpp cc cu cuh h hpp c py pyi go java kt rs js ts tsx jsx vue svelte scala groovy inl inc swift proto
    EngineCore Worker WorkerProc APIServer Engine Core engine core
    the a an and or of to in is are was be been has have had not no on at for with by from as it its this that
    error Error ERROR errors failed Failed FAILED failure FAIL fail warning Warning WARNING info INFO debug DEBUG
    file File files line test tests Test job step run running Running process command code exit exited status
    could cannot Could Cannot unable Unable found more than after before while when all any some could must should
    build build image name version package module task Task test worker server host path url http https com org git
    message type value size memory device GPU CUDA time seconds new set get use used out up into end start started
    api data log import export python pip main request requests response""".split()
)


@dataclass(frozen=True, slots=True)
class Text:
    """What hyperscan looks for, and words that must stand nearby, else the hit is a chance one."""

    text: bytes
    nearby: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Prefilter:
    """Texts of which every match holds one. `wraps`: the message may be broken over lines."""

    texts: tuple[Text, ...]
    caseless: bool
    wraps: bool


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, or what stands between two words. `loose`: blanks that may be doubled; `breaks`: a line may end here."""

    text: str
    word: bool
    loose: bool = False
    breaks: bool = False

    @property
    def score(self) -> float:
        """How rare the token is, in letters of a rare word."""
        if not self.word:
            return _SCORE_OF_MARK * len(self.text.replace(" ", ""))
        if self.text in _COMMON or self.text.isdigit():
            return _SCORE_OF_SHOUT if self.text.isupper() else _SCORE_OF_COMMON
        if self.text.isascii() and self.text.isalpha():
            return min(len(self.text), _SCORE_OF_PROSE)
        return min(_GOOD, sum(_SCORE_OF_MIXED if char.isascii() else _SCORE_OF_RARE for char in self.text))


@dataclass(frozen=True, slots=True)
class _Key:
    """Up to five tokens in a row, three words and what stands between them, with rare words from elsewhere."""

    tokens: tuple[_Token, ...]
    nearby: tuple[str, ...]

    @property
    def score(self) -> float:
        """How rare the key is; less where it begins with a short word, which ends many a coloured text."""
        short = self.tokens[0].word and len(self.tokens) > 1 and len(self.tokens[0].text) < _SHORT
        return sum(token.score for token in self.tokens) - (_COST_OF_SHORT if short else 0)

    @property
    def rank(self) -> tuple[float, int, float]:
        """Rare before common, and of what is rare enough, short before long."""
        return min(self.score, _GOOD), -len(self.tokens), self.score

    def texts(self) -> Iterator[Text]:
        """The key in one piece, and what is left of it where an escape or a line end interrupts it."""
        nearby = tuple(word.encode() for word in self.nearby)
        yield Text("".join(token.text for token in self.tokens).encode(), nearby)
        if any(token.loose for token in self.tokens):
            doubled = (token.text.replace(" ", "  ") if token.loose else token.text for token in self.tokens)
            yield Text("".join(doubled).encode(), nearby)
        if not self.tokens[0].word:
            yield from self._after_interruption(nearby)
        yield from self._before_interruption(nearby)

    def _before_interruption(self, nearby: tuple[bytes, ...]) -> Iterator[Text]:
        """What stands intact before the leftmost interruption, and how that begins."""
        before = ""
        for place, (token, following) in enumerate(pairwise(self.tokens)):
            before += token.text
            if token.word:
                words = nearby + tuple(one.text.encode() for one in self.tokens[place + 1 :] if one.word)
                ends = _ESCAPES + (_LINE_ENDS if following.breaks else ())
                for end in ends:
                    for at in range(len(following.text) + 1):
                        yield Text((before + following.text[:at] + end).encode(), words)

    def _after_interruption(self, nearby: tuple[bytes, ...]) -> Iterator[Text]:
        """The first word behind a mark, where an escape ends before it."""
        mark, word = self.tokens[0].text, self.tokens[1].text if len(self.tokens) > 1 else ""
        for end in _ESCAPE_ENDS:
            for at in range(len(mark) + 1):
                yield Text((end + mark[at:] + word).encode(), nearby)


def prefilter(pattern: Pattern) -> Prefilter:
    """The texts to look for; raises `PatternError` where the pattern has none that every match must hold."""
    keys = _keys(pattern.items)
    if _worst(keys) < _LEAST:
        raise PatternError("it has no word that every match must hold")
    texts = tuple(dict.fromkeys(text for key in keys for text in key.texts()))
    if len(texts) > _MOST_TEXTS:
        raise PatternError(f"it explodes: its alternatives come to more than {_MOST_TEXTS} texts")
    if pattern.caseless:
        texts = tuple(Text(text.text) for text in texts)
    return Prefilter(texts, pattern.caseless, _breaks(pattern.items))


def _breaks(items: Sequence[Item]) -> bool:
    return any(
        (isinstance(item, CharSet) and item.breaks)
        or (isinstance(item, Group) and any(_breaks(branch) for branch in item.alternatives))
        for item in items
    )


def _keys(items: Sequence[Item], start: int = 0, depth: int = 0) -> tuple[_Key, ...]:
    """Keys of which every match holds one: one of the sequence itself, or one for each alternative of a part.

    Parts before `start` have been looked into already.
    """
    best = _best(items)
    found = (best,) if best is not None else ()
    for at, item in enumerate(items):
        if _worst(found) >= (_FAIR if depth else _GOOD) or depth == _DEEPEST:
            break
        if at >= start and (branches := _alternatives(item)):
            deeper = depth if len(items) == 1 else depth + 1
            sides = [_keys((*items[:at], *branch, *items[at + 1 :]), at, deeper) for branch in branches]
            union = tuple(dict.fromkeys(key for side in sides for key in side))
            if all(sides) and (not found or _worth(union) > _worth(found)):
                found = union
    return found


def _alternatives(item: Item) -> tuple[tuple[Item, ...], ...]:
    """What an item may be, where that is one of a few: a group or a letter that may be absent, a class of two letters."""
    if isinstance(item, Anchor) or (item.low, item.high) not in ((1, 1), (0, 1)):
        return ()
    branches: tuple[tuple[Item, ...], ...] = ()
    if isinstance(item, Group):
        branches = item.alternatives
    elif isinstance(item, CharSet) and _FEW_LETTERS.fullmatch(item.source):
        branches = tuple((Literal(char),) for char in item.source[1:-1])
    elif isinstance(item, Literal) and item.low == 0:
        branches = ((Literal(item.char),),)
    return (*branches, ()) if branches and item.low == 0 else branches


def _worth(keys: Sequence[_Key]) -> float:
    return _worst(keys) - _COST_OF_KEY * len(keys)


def _worst(keys: Sequence[_Key]) -> float:
    return min((key.score for key in keys), default=0)


def _best(items: Sequence[Item]) -> _Key | None:
    """The rarest stretch of up to five tokens, with the rarest words from outside it."""
    runs = [list(_tokens(run)) for run in _runs(items)]
    stretches = (
        run[first:last]
        for run in runs
        for first, token in enumerate(run)
        if token.word or (token.text.strip() and not token.breaks)
        for last in range(first + 1, min(first + 5, len(run)) + 1)
    )
    best = max((_Key(tuple(stretch), ()) for stretch in stretches), key=lambda key: key.rank, default=None)
    if best is None:
        return None
    inside = {token.text for token in best.tokens}
    outside = {token.text: token.score for run in runs for token in run if token.word and token.text not in inside}
    rare = sorted(outside, key=lambda word: -outside[word])[:_NEARBY]
    return _Key(best.tokens, tuple(rare))


def _runs(items: Sequence[Item]) -> Iterator[list[Literal | CharSet]]:
    """The stretches of characters that must be there, between all that varies; anchors vanish.

    Anchors say where clean text begins; in raw bytes a stamp or a colour stands before it.
    """
    run: list[Literal | CharSet] = []
    for item in items:
        if isinstance(item, Anchor):
            continue
        if not isinstance(item, Group) and (_blank(item) or _once(item)):
            run.append(item)
        else:
            yield run
            run = []
    yield run


def _once(item: Literal | CharSet) -> bool:
    return isinstance(item, Literal) and (item.low, item.high) == (1, 1)


def _blank(item: Literal | CharSet) -> bool:
    """One blank or more."""
    return item.low > 0 and (
        (isinstance(item, CharSet) and item.blank) or (isinstance(item, Literal) and item.char == " ")
    )


def _tokens(run: Sequence[Literal | CharSet]) -> Iterator[_Token]:
    for word, group in groupby(run, key=_in_word):
        members = list(group)
        text = "".join(
            " " if _blank(item) else item.char for item in members if isinstance(item, Literal) or _blank(item)
        )
        loose = any(_blank(item) and item.high != 1 for item in members)
        yield _Token(text, word, loose, any(isinstance(item, CharSet) and item.breaks for item in members))


def _in_word(item: Literal | CharSet) -> bool:
    return isinstance(item, Literal) and (item.char.isalnum() or item.char == "_" or not item.char.isascii())
