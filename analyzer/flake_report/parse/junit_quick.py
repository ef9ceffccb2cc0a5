"""Small reports in the plain form that most tools write, without a reader's machinery.

A build may leave thousands of files of a few kilobytes; setting up a streaming reader for each costs more than the
reading. What is not just in this form, or not flawless, is left to that reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from . import limits
from .controls import translated
from .junit_case import Suite
from .junit_dialect import Dialect, dialect_of, is_go_property
from .junit_held import Entry
from .junit_simple import Taker
from .junit_values import count
from .xmlgrammar import CDATA, PAIRS
from .xmltext import attribute, flaw, flaw_of_content

_PAIR = r'\s+[A-Za-z][\w:.-]*="[^"<]*"'
_ATTRIBUTES = rf"((?:{_PAIR})*)\s*"
_PROLOG = re.compile(
    rf"""(?:\ufeff)?(?:<\?xml\ version="1\.0"(?:\ encoding="(?:utf-8|UTF-8)")?\ *\?>)?\s*
    (?:<testsuites{_ATTRIBUTES}>)?\s*""",
    re.VERBOSE,
)
_PROPERTY = rf"\s*<property(?:{_PAIR})*\s*(?:/>|></property>)"
_PROPERTIES = rf"(?:<properties\s*/>|<properties>((?:{_PROPERTY})*)\s*</properties>)"
_SUITE = re.compile(rf"<testsuite{_ATTRIBUTES}>\s*{_PROPERTIES}?")
_OUTPUT = re.compile(rf"\s*<(system-out|system-err)>(?:([^<]*)|{CDATA})</\1>")
_SUITE_END = re.compile(r"\s*</testsuite>\s*")
_ROOT_END = re.compile(r"</testsuites>\s*")


@dataclass(slots=True)
class Quick:
    """What was read; the names are those of `JunitBuilder`."""

    suites: int = 0
    cases: int = 0
    filled: int = 0
    uncertain: bool = False
    counts: dict[str, int] = field(default_factory=lambda: {"p": 0, "f": 0, "e": 0, "s": 0})


def read_quick(data: bytes, add: Callable[[Entry, int], None], *, texts: bool) -> Quick | None:
    """Hands the cases of a whole small document to `add`; None where it is not in the form."""
    if b"\r" in data or translated(data):
        return None
    try:
        buffer = data.decode()
    except UnicodeDecodeError:
        return None
    prolog = _PROLOG.match(buffer)
    root = _read(prolog[1] or "") if prolog is not None else None
    if prolog is None or root is None:
        return None
    at, rooted = prolog.end(), prolog[1] is not None
    found = Quick()
    taker = Taker(found.counts, texts=texts)
    while (start := _SUITE.match(buffer, at)) is not None:
        attributes = _read(start[1])
        if attributes is None or (found.suites and not rooted):
            return None
        suite = _begun(found.suites + 1, attributes, root if rooted else attributes)
        at = _suite(found, taker, add, suite, start)
        if at < 0:
            return None
    if rooted:
        end = _ROOT_END.match(buffer, at)
        at = end.end() if end else -1
    return found if at == len(buffer) and found.suites else None


def _begun(number: int, attributes: dict[str, str], root: dict[str, str]) -> Suite:
    get, dialect = attributes.get, dialect_of(root, attributes)
    return Suite(number, get("name", ""), get("hostname", ""), get("timestamp", ""), count(get("tests", "")), dialect)


def _suite(found: Quick, taker: Taker, add: Callable[[Entry, int], None], suite: Suite, start: re.Match[str]) -> int:
    """Takes a suite's cases; where the suite ends, or -1 where it is not in the form."""
    if start[2]:
        dialect = _dialect_by(start[2], suite.dialect)
        if dialect is None:
            return -1
        suite = suite._replace(dialect=dialect)
    if suite.dialect is Dialect.PLAYWRIGHT and not taker.texts:
        return -1
    found.suites += 1
    add(suite, len(suite.name))
    at = taker.take(start.string, start.end(), add)
    while (output := _OUTPUT.match(start.string, at)) is not None:
        if flaw_of_content(output[2] or ""):
            return -1
        at = output.end()
    end = _SUITE_END.match(start.string, at)
    cases = sum(found.counts.values()) - found.cases
    found.cases += cases
    if end is None or (suite.declared is not None and suite.declared > cases):
        return -1
    found.filled += cases > 0
    found.uncertain = found.uncertain or cases != suite.declared or suite.dialect is not Dialect.PYTEST
    return end.end()


def _dialect_by(properties: str, dialect: Dialect) -> Dialect | None:
    """What a suite's properties tell of its tool; None where they are not in the form."""
    pairs = PAIRS.findall(properties)
    keys = [key for key, _value in pairs]
    if set(keys[::2]) != {"name"} or set(keys[1::2]) != {"value"} or flaw(properties):
        return None
    if len(keys) != 2 * properties.count("<property"):
        return None
    if dialect is Dialect.OTHER and any(is_go_property(value) for _key, value in pairs[::2]):
        return Dialect.GO
    return dialect


def _read(written: str) -> dict[str, str] | None:
    """The attributes of a tag; None where one comes twice or is too long, or a reference is none."""
    pairs = PAIRS.findall(written)
    attributes = dict(pairs)
    if len(attributes) != len(pairs) or len(written) > limits.VALUE:
        return None
    if "&" in written or "\n" in written or "\t" in written:
        if flaw(written):
            return None
        return {key: attribute(value) for key, value in pairs}
    return attributes
