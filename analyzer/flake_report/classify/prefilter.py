"""From a signature's pattern to the expression that hyperscan looks for in raw bytes.

A hit only nominates a line: `re` then decides on the clean text. So the expression asks for less than the pattern
does, and it must: hyperscan reports every end offset, so an open tail would call back once a byte, and each state
costs speed. What is kept is a few words in a row out of the stretch of the pattern with the most letters. Between
two words, wherever a tool may colour or stamp a text, it takes an escape in place of what should stand there; where
the pattern says `\\s`, a line break too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from .pattern import Anchor, CharSet, Group, Item, Literal, Pattern, PatternError

SHORTEST = 4
"""Letters without which a pattern would nominate half the log."""
_ENOUGH = 16
"""Letters after which more would only cost states."""

# An escape begins with ESC, or with "^[" where a viewer copied it as text. What follows it is left open: a line that
# holds both words with an escape after the first is worth a look.
_ESCAPE = r"[\x1b^][^\n]*"
_BREAK = r"[\x1b^\n][^\n]*"


@dataclass(frozen=True, slots=True)
class Prefilter:
    """What hyperscan looks for: any of the expressions. `wraps`: the message may be broken over lines."""

    expressions: tuple[bytes, ...]
    caseless: bool
    wraps: bool


def prefilter(pattern: Pattern) -> Prefilter:
    """The words to look for; raises `PatternError` where the pattern has none that must be there."""
    branches = _branches(pattern.items)
    expressions = tuple(dict.fromkeys(_expression(branch) for branch in branches))
    wraps = any(isinstance(item, CharSet) and item.breaks for branch in branches for item in branch)
    return Prefilter(expressions, pattern.caseless, wraps)


def _branches(items: Sequence[Item]) -> tuple[tuple[Item, ...], ...]:
    """What any match is one of: the alternatives of a pattern that is nothing else, opened."""
    flat = _flattened(items)
    solid = [item for item in flat if not isinstance(item, Anchor)]
    if len(solid) == 1 and isinstance(solid[0], Group) and (solid[0].low, solid[0].high) == (1, 1):
        return tuple(branch for inner in solid[0].alternatives for branch in _branches(inner))
    return (flat,)


def _expression(branch: Sequence[Item]) -> bytes:
    best = max(_runs(branch), key=_weight, default=())
    if _weight(best) < SHORTEST:
        raise PatternError(f"no stretch of it has {SHORTEST} letters or digits that must be there")
    return _rendered(_trimmed(best)).encode()


def _flattened(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items with plain groups opened: a group of one alternative that stands there once is its content."""
    flat: list[Item] = []
    for item in items:
        if isinstance(item, Group) and len(item.alternatives) == 1 and (item.low, item.high) == (1, 1):
            flat += _flattened(item.alternatives[0])
        else:
            flat.append(item)
    return tuple(flat)


def _runs(items: Sequence[Item]) -> list[tuple[Item, ...]]:
    """The stretches between the items that may be absent or that run through a line; anchors vanish.

    Anchors say where clean text begins; in raw bytes a stamp or a colour stands before it.
    """
    runs: list[tuple[Item, ...]] = []
    current: list[Item] = []
    for item in items:
        if isinstance(item, Anchor):
            continue
        if not _blank(item) and (item.low == 0 or (item.high is None and _wide(item))):
            runs.append(tuple(current))
            current = []
        else:
            current.append(item)
    return [*runs, tuple(current)]


def _wide(item: Item) -> bool:
    return isinstance(item, Group) or (isinstance(item, CharSet) and item.wide)


def _blank(item: Item) -> bool:
    return (isinstance(item, CharSet) and item.blank) or (isinstance(item, Literal) and item.char == " ")


def _word(item: Item) -> bool:
    return isinstance(item, Literal) and (item.char.isalnum() or item.char == "_" or not item.char.isascii())


def _separator(item: Item) -> bool:
    return _blank(item) or (isinstance(item, Literal) and not _word(item))


def _weight(items: Sequence[Item]) -> int:
    """Letters and digits that must be there."""
    return sum(_item_weight(item) for item in items)


def _item_weight(item: Item) -> int:
    if isinstance(item, Literal):
        return item.low if _word(item) else 0
    if isinstance(item, Group) and item.low > 0:
        return min(_weight(branch) for branch in item.alternatives)
    return 0


def _trimmed(run: Sequence[Item]) -> Sequence[Item]:
    """The run from its first word to the word that makes it long enough."""
    start, weight = 0, 0
    while _item_weight(run[start]) == 0:
        start += 1
    end = len(run)
    for at in range(start, len(run)):
        weight += _item_weight(run[at])
        if weight >= _ENOUGH and (at + 1 == len(run) or not _word(run[at + 1])):
            end = at + 1
            break
    while _item_weight(run[end - 1]) == 0 and (weight >= _ENOUGH or not _mark(run[end - 1])):
        end -= 1
    return run[start:end]


def _mark(item: Item) -> bool:
    """Punctuation, which helps where words are few."""
    return isinstance(item, Literal) and item.char != " "


def _rendered(items: Sequence[Item]) -> str:
    """Words as they are; what separates them, or an escape in its place."""
    parts: list[str] = []
    for separator, group in groupby(items, key=_separator):
        members = list(group)
        parts.append(_gap(members) if separator else "".join(_one(item) for item in members))
    return "".join(parts)


def _gap(separators: Sequence[Item]) -> str:
    plain = "".join(_one(item) for item in separators)
    breaks = any(isinstance(item, CharSet) and item.breaks for item in separators)
    before = "".join(f"{_literal(item.char)}?" for item in separators if isinstance(item, Literal) and item.char != " ")
    return f"(?:{plain}|{before}[ \\r]{{0,2}}{_BREAK if breaks else _ESCAPE})"


def _one(item: Item) -> str:
    if isinstance(item, Anchor):
        return ""
    if isinstance(item, Group):
        return f"(?:{'|'.join(_rendered(branch) for branch in item.alternatives)}){_quantifier(item)}"
    if _blank(item):
        return "[ ]*" if item.low == 0 else "[ ]+"
    return (_literal(item.char) if isinstance(item, Literal) else item.source) + _quantifier(item)


def _literal(char: str) -> str:
    if char.isascii():
        return char if char.isalnum() else f"\\x{ord(char):02x}"
    return "(?:" + "".join(f"\\x{byte:02x}" for byte in char.encode()) + ")"


def _quantifier(item: Literal | CharSet | Group) -> str:
    if (item.low, item.high) == (1, 1):
        return ""
    return f"{{{item.low},{'' if item.high is None else item.high}}}"
