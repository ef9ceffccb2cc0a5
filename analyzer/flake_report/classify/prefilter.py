"""From a signature's pattern to the literal texts that hyperscan looks for in raw bytes.

A hit only nominates a line: `re` then decides on the clean text. So little is asked for: a rare word or a few in a
row that every match must hold. Plain texts compile in milliseconds and scan at the speed of memory; expressions with
room for escapes do neither. Where a tool may colour, stamp or break a text between two words, the first word with the
escape behind it is looked for as well: ESC, "^[" where a viewer copied it, and a line end where the pattern says `\\s`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from .pattern import Pattern, PatternError
from .words import COLOURED, GOOD, Choice, Piece, Token, breaks, pieces, runs

_LEAST = 2.0
"""A score below which a text would nominate half the log."""
_FAIR = 5.0
"""A score at which it is not worth looking into alternatives within alternatives."""
_DEEPEST = 3
"""Parts of a sequence whose alternatives are looked into together."""
_LONGEST = 5
"""Tokens of a key: three words and what stands between them."""
_NEARBY = 2
"""Words from elsewhere in the pattern that are asked for before a line is read."""
_MOST_TEXTS = 400
_MOST_SEQUENCES = 4000
"""Texts of one row, and sequences that are weighed for them; a pattern of more alternatives than that is refused."""
_SHORT = 3
_COST_OF_SHORT = 1.5
"""What it costs a key to begin with a word of fewer than three letters, which ends many a coloured text."""
_LONG = 5
"""Letters of a word that is rare right behind an escape; a shorter one ends many a word."""
_COST_OF_KEY = 0.05
"""What each further key of a row costs: of equals, the fewer win."""

CARET = b"^["
"""How viewers show ESC."""
_ESCAPES = ("\x1b", CARET.decode())
_ESCAPE_ENDS = ("m", "K", "B", "\\", "\x07")  # colours, erasing, character sets, links, stamps
_LINE_ENDS = ("\n", "\r")
_BLANKS = ("  ", " \t", "\t")


@dataclass(frozen=True, slots=True)
class Text:
    """What hyperscan looks for, and words that must stand nearby, else the hit is a chance one."""

    text: bytes
    nearby: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Prefilter:
    """Texts of which every match holds one. `wraps`: the message may be broken over lines.

    `words` are all the words that a match holds, as often as it does, where it begins and ends with one: a line with
    all of them is not one of several that the message is broken over. Empty where that cannot be told by words.
    """

    texts: tuple[Text, ...]
    caseless: bool
    wraps: bool
    words: tuple[str, ...] = ()

    def held_in(self, text: str) -> bool:
        """Whether one line has all that could stand in several."""
        return bool(self.words) and all(text.count(word) >= self.words.count(word) for word in set(self.words))


@dataclass(frozen=True, slots=True)
class _Key:
    """Tokens in a row of which every match holds all, and rare words from elsewhere in the pattern."""

    tokens: tuple[Token, ...]
    score: float
    nearby: tuple[str, ...]

    def texts(self) -> Iterator[Text]:
        """The key in one piece, and what is left of it where an escape, blanks or a line end interrupt it.

        What stands intact before the leftmost interruption is looked for, with the begin of that; behind a first word
        that tools like to colour, and behind marks, what follows the interruption, with its end.
        """
        yield Text("".join(token.text for token in self.tokens).encode(), self._words(self.nearby))
        first, *rest = self.tokens
        if not first.word:
            yield from self._interrupted(self.tokens, ())
        elif first.score <= COLOURED and len(rest) > 1 and len(rest[1].text) >= _LONG and not rest[0].breaks:
            yield from self._interrupted(tuple(rest), (first.text,))
        else:
            yield from self._before_interruption(self.tokens, ())

    def _interrupted(self, tokens: tuple[Token, ...], nearby: tuple[str, ...]) -> Iterator[Text]:
        """For tokens that begin between words."""
        mark, word = tokens[0], tokens[1].text if len(tokens) > 1 else ""
        ends = _ESCAPE_ENDS + (_BLANKS if mark.loose else ())
        for end in ends:
            for at in range(len(mark.text) + 1):
                yield Text((end + mark.text[at:] + word).encode(), self._words((*self.nearby, *nearby)))
        yield from self._before_interruption(tokens, nearby)

    def _before_interruption(self, tokens: tuple[Token, ...], nearby: tuple[str, ...]) -> Iterator[Text]:
        before = ""
        for place, (token, following) in enumerate(pairwise(tokens)):
            before += token.text
            if token.word:
                words = self._words((*self.nearby, *nearby, *(one.text for one in tokens[place + 1 :] if one.word)))
                for at in range(len(following.text) + 1):
                    blank = following.loose and following.text[at : at + 1] == " "
                    ends = _ESCAPES + (_LINE_ENDS if following.breaks else ()) + (_BLANKS if blank else ())
                    for end in ends:
                        yield Text((before + following.text[:at] + end).encode(), words)

    @staticmethod
    def _words(words: tuple[str, ...]) -> tuple[bytes, ...]:
        return tuple(word.encode() for word in words)


def prefilter(pattern: Pattern) -> Prefilter:
    """The texts to look for; raises `PatternError` where the pattern has none that every match must hold."""
    keys = _keys(pieces(pattern.items), budget=count(1))
    if _worst(keys) < _LEAST:
        raise PatternError("it has no word that every match must hold")
    texts = tuple(dict.fromkeys(text for key in keys for text in key.texts()))
    if len(texts) > _MOST_TEXTS:
        raise PatternError(f"it explodes: its alternatives come to more than {_MOST_TEXTS} texts")
    if pattern.caseless:
        texts = tuple(Text(text.text) for text in texts)
    wraps = breaks(pattern.items)
    return Prefilter(texts, pattern.caseless, wraps, _words(pattern) if wraps else ())


def _words(pattern: Pattern) -> tuple[str, ...]:
    sequence = pieces(pattern.items)
    first, last = sequence[0], sequence[-1]
    if pattern.caseless or not (isinstance(first, Token) and first.word and isinstance(last, Token) and last.word):
        return ()
    return tuple(piece.text for piece in sequence if isinstance(piece, Token) and piece.word)


def _keys(sequence: Sequence[Piece], start: int = 0, depth: int = 0, *, budget: Iterator[int]) -> tuple[_Key, ...]:
    """Keys of which every match holds one: one of the sequence itself, or one for each branch of a choice in it.

    Choices before `start` have been looked into already. `budget` counts the sequences.
    """
    if next(budget) > _MOST_SEQUENCES:
        raise PatternError("it explodes: it has too many alternatives within alternatives")
    best = _best(sequence)
    found: tuple[_Key, ...] = () if best is None else (best,)
    deeper = depth if len(sequence) == 1 else depth + 1
    for at, piece in enumerate(sequence):
        if _worst(found) >= (_FAIR if depth else GOOD) or depth == _DEEPEST:
            break
        if at >= start and isinstance(piece, Choice):
            before, after = sequence[:at], sequence[at + 1 :]
            sides = [_keys((*before, *branch, *after), at, deeper, budget=budget) for branch in piece.branches]
            union = tuple(dict.fromkeys(key for side in sides for key in side))
            if all(sides) and (not found or _worth(union) > _worth(found)):
                found = union
    return found


def _worst(keys: Sequence[_Key]) -> float:
    return min((key.score for key in keys), default=0.0)


def _worth(keys: Sequence[_Key]) -> float:
    return _worst(keys) - _COST_OF_KEY * len(keys)


def _best(sequence: Sequence[Piece]) -> _Key | None:
    """The rarest stretch, and of those that are rare enough the shortest; with the rarest words from outside it."""
    stretches = runs(sequence)
    best: tuple[tuple[float, int, float], list[Token]] | None = None
    for run in stretches:
        for first, token in enumerate(run):
            if not token.word and (token.loose or token.breaks or not token.text.strip()):
                continue
            score = -_COST_OF_SHORT if token.word and len(token.text) < _SHORT and len(run) > 1 else 0.0
            for last in range(first, min(first + _LONGEST, len(run))):
                score += run[last].score
                rank = (min(score, GOOD), first - last, score)
                if best is None or rank > best[0]:
                    best = (rank, run[first : last + 1])
    if best is None:
        return None
    (_, _, score), tokens = best
    inside = {token.text for token in tokens}
    outside = {token.text: token.score for run in stretches for token in run if token.word and token.text not in inside}
    nearby = sorted(outside, key=lambda word: -outside[word])[:_NEARBY]
    return _Key(tuple(tokens), score, tuple(nearby))
