"""An explanation as a page of text and as JSON: the answer, then the evidence, then what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from flake_report.model.failure import HELD, Blame, Captured, Cause, Diagnosis, Explanation, MemoryPast

from .words import one_line, plural, stamp

BLAME_TITLES = {
    Blame.GPU_MEMORY: "GPU memory",
    Blame.GPU: "GPU",
    Blame.INFRA: "infrastructure",
    Blame.DEPENDENCY: "dependency",
    Blame.AGENT: "agent",
    Blame.TEST: "test",
    Blame.CODE: "code",
}
LABEL_WIDTH = 8
SHOWN = 20
"""Causes, and tests without one, that are shown; a log with more of them has one story, told by the first."""
SHOWN_TEXT = 300
"""Characters of a line from the log that are shown; the rest stands in the log, on the line that is named."""


def to_json(explanation: Explanation) -> dict[str, object]:
    """The stable keys of `explain --format json`, for one log."""
    return {
        "log": explanation.log,
        "exit_status": explanation.exit_status,
        "sessions": explanation.sessions,
        "cut_sessions": explanation.cut_sessions,
        "passed": explanation.passed,
        "failed": explanation.failed,
        "unexplained": list(explanation.unexplained),
        "causes": [
            {
                "signature": cause.signature,
                "title": cause.title,
                "blame": cause.blame.value,
                "line": cause.line,
                "text": cause.text,
                "test": cause.test,
                "count": cause.count,
                "captures": dict(cause.captures),
                "hint": cause.hint,
                "diagnosis": _diagnosis(cause.diagnosis),
                "history": _past(cause.past),
            }
            for cause in explanation.causes
        ],
        "warnings": list(explanation.warnings),
    }


def _diagnosis(one: Diagnosis | None) -> dict[str, object] | None:
    if one is None:
        return None
    return {"kind": one.kind.value, "sentence": one.sentence, "evidence": list(one.evidence), "advice": one.advice}


def _past(one: MemoryPast | None) -> dict[str, object] | None:
    if one is None:
        return None
    return {
        "sentence": one.sentence,
        "builds": one.builds,
        "first_build": one.first_build,
        "first_at": stamp(one.first_at),
        "last_build": one.last_build,
        "last_at": stamp(one.last_at),
        "same_free": one.same_free,
        "retried": one.retried,
        "recovered": one.recovered,
        "failed_again": one.failed_again,
    }


def to_text(explanation: Explanation) -> Iterator[Text | Table | Padding]:
    """Renderables for a terminal, in reading order."""
    yield headline(explanation)
    for number, cause in enumerate(explanation.causes[:SHOWN], 1):
        yield Text()
        yield _title(number, cause)
        yield Padding(_facts(cause), (0, 0, 0, 3))
    if len(explanation.causes) > SHOWN:
        yield Text(f"\n… {len(explanation.causes) - SHOWN:,} more causes; --format json lists all", style="dim")
    if explanation.unexplained and explanation.causes:
        yield Text(f"\n{plural(len(explanation.unexplained), 'more test')} failed, and this log does not say why:")
        yield from (Text(f"   {one_line(test)}", overflow="fold") for test in explanation.unexplained[:SHOWN])


def headline(explanation: Explanation) -> Text:
    """One line: how the job ended, what its test sessions counted, and whether the cause is known."""
    parts = []
    if explanation.exit_status is not None:
        parts.append(f"exit {explanation.exit_status}")
    if explanation.sessions:
        parts.append(plural(explanation.sessions, "test session"))
        parts.append(f"{explanation.passed:,} passed, {explanation.failed:,} failed")
    if explanation.causes:
        return Text.assemble(("✗ ", "bold red"), (" · ".join(parts) or "failed", "bold"))
    failed = explanation.failed or (explanation.exit_status or 0) != 0
    if failed:
        parts.append("no known cause in this log")
        return Text.assemble(("? ", "bold yellow"), (" · ".join(parts), "bold"))
    if explanation.exit_status is None and not explanation.sessions:
        return Text.assemble(("– ", "bold"), ("no failure found; this log does not say how its job ended", "bold"))
    if explanation.exit_status is None and explanation.cut_sessions:
        parts.append("no failure so far: the log ends in the midst of it")
        return Text.assemble(("? ", "bold yellow"), (" · ".join(parts), "bold"))
    parts.append("nothing failed")
    return Text.assemble(("✓ ", "bold green"), (" · ".join(parts), "bold"))


def _title(number: int, cause: Cause) -> Table:
    where = f"line {cause.line:,}" + (f", printed {cause.count} times" if cause.count > 1 else "")
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(ratio=1)
    grid.add_column(justify="right", no_wrap=True)
    title = Text.assemble((BLAME_TITLES[cause.blame], "bold red"), ": ", (one_line(cause.title), "bold"))
    grid.add_row(str(number), title, Text(where, style="dim"))
    return grid


def _facts(cause: Cause) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=LABEL_WIDTH, style="dim")
    grid.add_column(overflow="fold")
    if cause.test:
        grid.add_row("test", Text(one_line(cause.test)))
    memory = memory_line(cause.captures)
    if memory:
        grid.add_row(_device(cause.captures), memory)
    else:
        grid.add_row("says", Text(_shorten(cause.text)))
    if cause.diagnosis:
        said = one_line(cause.diagnosis.sentence)
        grid.add_row("held by" if said.startswith(HELD) else "because", Text(said.removeprefix(HELD)))
    if cause.past:
        grid.add_row("history", Text(cause.past.sentence))
    grid.add_row("do", Text(advice(cause)))
    return grid


def _device(captures: Mapping[str, Captured]) -> str:
    """The device as the log names it; a bare index, as torch prints it, gets a word."""
    device = str(captures.get("device", "device"))
    return f"GPU {device}" if device.isdigit() else device


def memory_line(captures: Mapping[str, Captured]) -> str:
    """The numbers of a refused engine start, or allocation, in one line; empty where the captures are not those."""
    free, total, requested = (captures.get(name) for name in ("free_gib", "total_gib", "requested_gib"))
    if not (isinstance(free, float | int) and isinstance(total, float | int) and isinstance(requested, float | int)):
        return ""
    if free > total:
        return ""  # no card is so: the line is shown as it stands
    line = f"{free:.2f} of {total:.2f} GiB free · asked {requested:.2f}"
    utilization = captures.get("utilization")
    line += " more" if utilization is None else f" (utilization {utilization})"
    short = f"{requested - free:.2f}"
    return f"{line} · short by {short if float(short) > 0 else 'less than 0.01'}"


def advice(cause: Cause) -> str:
    """What to do; where a setting asked for too much, also the largest that the memory seen would have allowed."""
    if cause.diagnosis:
        return cause.diagnosis.advice
    most = cause.largest_utilization
    if most is None:
        return cause.hint
    told = f"{most:.2f} is the most that would have started" if most else "no setting would have started"
    return f"{told}; {cause.hint}"


def _shorten(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= SHOWN_TEXT else text[: SHOWN_TEXT - 1] + "…"
