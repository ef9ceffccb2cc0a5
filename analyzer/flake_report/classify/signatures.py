"""The signature table: read from TOML, checked row by row, its own examples proven."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256

from flake_report.errors import FlakeReportError
from flake_report.model.failure import Blame, Signature

from .matcher import Matcher
from .message import harmless, message
from .pattern import PatternError, parse_pattern
from .prefilter import Prefilter, prefilter

_REQUIRED = ("name", "blame", "pattern", "hint", "example")
_KEYS = (*_REQUIRED, "title", "source", "wrapper", "weak")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True, eq=False)
class SignatureTable:
    """Rows in order of priority, compiled. `digest` tells tables apart: it stands beside what they labelled."""

    rows: tuple[Signature, ...]
    digest: str
    matcher: Matcher
    prefilters: tuple[Prefilter, ...]

    def extended(self, user: SignatureTable) -> SignatureTable:
        """This table with a user's rows before its own; a user's row takes the place of ours of the same name."""
        replaced = {row.name for row in user.rows}
        kept = [(row, one) for row, one in zip(self.rows, self.prefilters, strict=True) if row.name not in replaced]
        rows = user.rows + tuple(row for row, _ in kept)
        prefilters = user.prefilters + tuple(one for _, one in kept)
        return SignatureTable(rows, _digest(rows), Matcher(rows, prefilters), prefilters)


def parse_table(text: str, name: str) -> SignatureTable:
    """The table in `text`; `name` is the file that errors speak of.

    Raises `FlakeReportError` that names file, row and remedy for whatever is wrong with it.
    """
    rows = tuple(_row(entry, place) for entry, place in _entries(text, name))
    _refuse_twins(rows, name)
    prefilters = tuple(_prefilter(row, name) for row in rows)
    table = SignatureTable(rows, _digest(rows), Matcher(rows, prefilters), prefilters)
    _prove_examples(table, name)
    return table


def _entries(text: str, name: str) -> list[tuple[Mapping[str, object], str]]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FlakeReportError(f"{name} is not valid TOML: {error}; correct it there") from error
    for key in document:
        if key != "signature":
            raise FlakeReportError(f"{name} has an unknown key {key!r}; rows are written as [[signature]]")
    entries = document.get("signature")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise FlakeReportError(f"{name} holds no rows; write each one as [[signature]]")
    return [(entry, _place(entry, at, name)) for at, entry in enumerate(entries, start=1)]


def _place(entry: Mapping[str, object], at: int, name: str) -> str:
    title = entry.get("name")
    return f"{name}, row {at} ({title})" if isinstance(title, str) else f"{name}, row {at}"


def _row(entry: Mapping[str, object], place: str) -> Signature:
    for key in entry:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            meant = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(_KEYS)}"
            raise FlakeReportError(f"{place} has an unknown key {key!r}; {meant}")
    texts = {
        key: _text(entry, key, place) for key in (*_REQUIRED, "title", "source") if key in entry or key in _REQUIRED
    }
    if not _NAME.fullmatch(texts["name"]):
        raise FlakeReportError(f"{place}: a name is lower-case words joined by hyphens, not {texts['name']!r}")
    return Signature(
        name=texts["name"],
        title=texts.get("title", texts["name"].replace("-", " ")),
        blame=_blame(texts["blame"], place),
        pattern=texts["pattern"],
        hint=texts["hint"],
        example=texts["example"],
        source=texts.get("source", ""),
        wrapper=_flag(entry, "wrapper", place),
        weak=_flag(entry, "weak", place),
    )


def _flag(entry: Mapping[str, object], key: str, place: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise FlakeReportError(f"{place}: {key} is true or false, not {value!r}")
    return value


def _text(entry: Mapping[str, object], key: str, place: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise FlakeReportError(f"{place} has no {key}; add {key} = '…'")
    return value


def _blame(value: str, place: str) -> Blame:
    known = [blame.value for blame in Blame]
    if value not in known:
        near = get_close_matches(value, known, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(known)}"
        raise FlakeReportError(f"{place}: unknown blame {value!r}; {meant}")
    return Blame(value)


def _refuse_twins(rows: Sequence[Signature], name: str) -> None:
    seen: set[str] = set()
    for row in rows:
        if row.name in seen:
            raise FlakeReportError(f"{name} has two rows named {row.name!r}; rename one of them")
        seen.add(row.name)


def _prefilter(row: Signature, name: str) -> Prefilter:
    try:
        re.compile(row.pattern, re.MULTILINE)
        return prefilter(parse_pattern(row.pattern))
    except (re.error, PatternError) as error:
        raise FlakeReportError(f"{name}, row {row.name!r}: the pattern is refused: {error}; rewrite it") from error


def _prove_examples(table: SignatureTable, name: str) -> None:
    for at, row in enumerate(table.rows):
        takers = _takers(table, row.example)
        if at not in takers:
            raise FlakeReportError(f"{name}, row {row.name!r} does not match its own example; correct one of the two")
        if min(takers) < at:
            earlier = table.rows[min(takers)].name
            raise FlakeReportError(
                f"{name}, row {row.name!r}: the earlier row {earlier!r} takes its example; "
                "move the row up or narrow the other"
            )


def _takers(table: SignatureTable, example: str) -> set[int]:
    """The rows that match an example, by the way the scan goes."""
    nominated: set[int] = set()
    table.matcher.nominate(example.encode(), lambda row, _end: nominated.add(row))
    text = "\n".join(message(line) for line in example.split("\n"))
    if harmless(text):
        return set()
    return {row for row in nominated if table.matcher.expression(row).search(text)}


def _digest(rows: Sequence[Signature]) -> str:
    """First 16 hex digits over all that a row decides; a new hint makes no new table."""
    content = "\x00".join(f"{row.name}\x01{row.blame}\x01{row.pattern}\x01{row.wrapper}{row.weak}" for row in rows)
    return sha256(content.encode()).hexdigest()[:16]
