"""The list of tests that buildkite-test-collector writes with `--json`, one object a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from json import JSONDecoder
from typing import Any

from flake_report.model.results import Attempt, Outcome, ReportSummary, TestId

from . import limits
from .decode import blocks, text_blocks
from .excerpt import clip
from .fields import Fields
from .problems import Problems
from .tally import Tally
from .testid import from_nodeid

_OUTCOMES = {"passed": Outcome.PASSED, "failed": Outcome.FAILED, "skipped": Outcome.SKIPPED}
_BETWEEN = " \t\r\n,"


def read_collector(chunks: Iterable[bytes], emit: Callable[[Attempt], None]) -> ReportSummary:
    """Each test with a result; one without (as the collector writes tests under pytest-rerunfailures) is told of.

    What is a JSON list of something else is no report.
    """
    problems = Problems()
    tally = Tally()
    found = False
    lost: set[int] = set()
    for value in items(text_blocks(blocks(chunks), problems), problems):
        if not isinstance(value, dict) or not ({"scope", "name", "history"} <= value.keys()):
            problems.damage("an item that is no test of a collector: left out")
            continue
        if not found:
            found, tally.sessions = True, 1
        _item(Fields(value), emit, tally, problems, lost)
    if not found:
        problems.damage("no test report: json")
    return tally.summary("collector" if found else "json", problems)


def _item(value: Fields, emit: Callable[[Attempt], None], tally: Tally, problems: Problems, lost: set[int]) -> None:
    test = _test(value)
    outcome = _OUTCOMES.get(value.text("result"))
    if outcome is None:
        problems.damage("tests without a result, as the collector writes them under pytest-rerunfailures")
        if len(lost) < limits.REPEATED:
            lost.add(hash(test))
        return
    attempt = Attempt(
        test=test,
        outcome=outcome,
        number=tally.next_number(test),
        known=hash(test) not in lost,
        seconds=value.object("history").number("duration"),
        message=clip(value.text("failure_reason"), limit=limits.MESSAGE),
        text=clip("\n".join(line for one in value.objects("failure_expanded") for line in one.texts("expanded"))),
        file=value.text("file_name"),
    )
    tally.add(test, attempt)
    emit(attempt)


def _test(value: Fields) -> TestId:
    """The Python collector cuts pytest's node id at its last `::`, in parameters too; others have their own scopes."""
    scope, name, file = (value.text(key) for key in ("scope", "name", "file_name"))
    if file.endswith(".py") and (scope == file or scope.startswith((f"{file}::", f"{file}["))):
        return from_nodeid(f"{scope}::{name}")
    return TestId(scope, name)


def items(texts: Iterable[str], problems: Problems) -> Iterator[Any]:
    """The items of a JSON list, one by one; after the first that is damaged, none."""
    decode = JSONDecoder().raw_decode
    buffer, at, opened, wait = "", 0, False, 0
    for text in texts:
        buffer, at = buffer[at:] + text, 0
        if len(buffer) < wait:
            continue
        while True:
            at = _skip(buffer, at)
            if not opened and buffer[at : at + 1] == "[":
                opened, at = True, at + 1
                continue
            if at >= len(buffer) or buffer[at] == "]":
                break
            try:
                item, end = decode(buffer, at)
            except (ValueError, RecursionError):
                break
            if end == len(buffer) and buffer[-1] not in '}]"':  # a number may go on
                break
            at = end
            yield item
        # A long item is tried again only when there is twice as much of it.
        wait = 2 * (len(buffer) - at)
        if len(buffer) - at > limits.JSON_ITEM:
            problems.damage(f"an item of more than {limits.JSON_ITEM:,} characters: the rest is not read")
            return
    yield from _last(buffer[_skip(buffer, at) :], decode, problems)


def _last(rest: str, decode: Callable[[str], tuple[Any, int]], problems: Problems) -> Iterator[Any]:
    while rest and not rest.startswith("]"):
        try:
            item, end = decode(rest)
        except (ValueError, RecursionError):
            break
        yield item
        rest = rest[end:].lstrip(_BETWEEN)
    if not rest.startswith("]"):
        problems.damage("the list is cut or damaged")
    elif rest[1:].strip():
        problems.damage("text after the list")


def _skip(buffer: str, at: int) -> int:
    while at < len(buffer) and buffer[at] in _BETWEEN:
        at += 1
    return at
