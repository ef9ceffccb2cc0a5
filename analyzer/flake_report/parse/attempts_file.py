"""The guard's attempts file: JSON lines: a header, an attempt a line, a last line if the session lived to write it.

A header with `"dist": "each"` is of xdist's `--dist each`: every worker ran every test, and each is a run of its own.
There a test is told apart by its worker. Elsewhere the worker tells nothing apart: a rerun may move to another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from flake_report.model.results import Attempt, DeviceMemory, Holder, Outcome, Phase, ReportSummary, ResultSource

from . import fields, limits
from .excerpt import clip
from .fields import Fields
from .problems import Problems
from .sessionkey import session_key
from .tally import Tally
from .testid import file_of_nodeid, from_nodeid

SCHEMA = "gpu-guard-attempts/1"

_FAMILY = "gpu-guard-attempts/"
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_PHASES = {phase.value: phase for phase in Phase}
_SIZES = (
    "free_before",
    "free_after",
    "used_before",
    "used_after",
    "torch_reserved_before",
    "torch_reserved_after",
    "torch_allocated_after",
)


@dataclass(slots=True)
class Reader:
    """The state between lines: which session they belong to, and whether it has ended."""

    emit: Callable[[Attempt], None]
    problems: Problems
    tally: Tally
    session: str = ""
    key: str = ""
    each: bool = False
    open: bool = False
    totals: dict[int, int | None] = field(default_factory=dict)

    def line(self, number: int, raw: bytes) -> None:
        """One line, whatever it holds."""
        place = f"line {number}"
        value = fields.value_of(raw)
        if not isinstance(value, dict):
            self.problems.damage("not a JSON object: left out", place)
            return
        line = Fields(value)
        if line.has("schema"):
            self._header(line, place)
        elif line.has("nodeid"):
            self._attempt(line, place)
        elif line.has("finished_at") or line.has("exit_status"):
            self.open = False
            if not line.time("finished_at") or not isinstance(value.get("exit_status"), int):
                self.problems.damage("a last line without time or exit status", place)
        else:
            self.problems.damage("neither header nor attempt nor end: left out", place)

    def _header(self, line: Fields, place: str) -> None:
        schema = line.text("schema")
        if schema != SCHEMA:
            known = "a newer version, read as far as it is like" if schema.startswith(_FAMILY) else "not"
            self.problems.damage(f"schema {schema[:60]!r} is {known} {SCHEMA}", place)
        if self.open:
            self.problems.damage("a session has no last line: it died", place)
        self.session = line.text("session")
        command = line.text("command")
        if not self.session or not command:
            self.problems.damage("a header without session or command", place)
        self.key = session_key(command)
        self.each = line.text("dist") == "each"
        self.totals = self._totals(line)
        self._tell_wrong(line, place)
        self.open = True
        self.tally.sessions += 1

    def _attempt(self, line: Fields, place: str) -> None:
        nodeid = line.text("nodeid")
        outcome = _OUTCOMES.get(line.text("outcome"))
        if not nodeid or outcome is None:
            self.problems.damage("an attempt without node id or known outcome: left out", place)
            return
        if not self.tally.sessions:
            self.problems.damage("attempts without a header: their session is not known", place)
        worker = line.text("worker")
        apart = worker if self.each else ""
        identity = (self.session, nodeid, apart)
        expected = self.tally.next_number(identity)
        number = line.whole("attempt")
        if number is not None and number != expected:
            self.problems.damage("attempts of a test that do not follow each other: some are missing", place)
        attempt = Attempt(
            test=from_nodeid(nodeid)._replace(apart=apart),
            outcome=outcome,
            number=expected,
            known=number == expected,
            phase=self._phase(line),
            seconds=line.number("seconds"),
            started_at=line.time("started_at"),
            message=clip(line.text("message"), limit=limits.MESSAGE),
            text=clip(line.text("traceback")),
            file=file_of_nodeid(nodeid),
            session=self.session,
            session_key=self.key,
            worker=worker,
            pid=line.whole("pid"),
            position=line.whole("position"),
            source=ResultSource.ATTEMPTS,
            fingerprint=self._fingerprint(line),
            memory=self._memory(line),
            holders=self._holders(line),
        )
        self._tell_wrong(line, place)
        self.tally.add(identity, attempt)
        self.emit(attempt)

    def _tell_wrong(self, line: Fields, place: str) -> None:
        for wrong in line.wrong:
            self.problems.damage(f"`{wrong}` is not what it should be: left out", place)

    def _totals(self, line: Fields) -> dict[int, int | None]:
        """Bytes of each device by its number."""
        totals = {}
        for one in line.objects("devices")[: limits.PARTS]:
            index, total = one.whole("index"), one.whole("total_bytes")
            if index is None or one.wrong:
                line.wrong.append("devices")
            else:
                totals[index] = total
        return totals

    def _phase(self, line: Fields) -> Phase | None:
        phase = line.text("phase")
        if phase and phase not in _PHASES:
            line.wrong.append("phase")
        return _PHASES.get(phase)

    def _fingerprint(self, line: Fields) -> str:
        fingerprint = line.text("fingerprint")
        if not fingerprint or _FINGERPRINT.fullmatch(fingerprint):
            return fingerprint
        line.wrong.append("fingerprint")
        return ""

    def _memory(self, line: Fields) -> tuple[DeviceMemory, ...]:
        samples = []
        for one in line.objects("memory")[: limits.PARTS]:
            device = one.whole("device")
            sizes = [one.whole(size) for size in _SIZES]
            if device is None or one.wrong:
                line.wrong.append("memory")
            else:
                read = DeviceMemory(f"cuda:{device}", one.time("at_before"), one.time("at_after"), *sizes)
                samples.append(replace(read, total=self.totals.get(device)))
        return tuple(samples)

    def _holders(self, line: Fields) -> tuple[Holder, ...]:
        holders = []
        for one in line.objects("holders")[: limits.PARTS]:
            pid, name, size = one.whole("pid"), one.text("name"), one.whole("bytes")
            if pid is None or one.wrong:
                line.wrong.append("holders")
            else:
                holders.append(Holder(pid, name, size))
        return tuple(holders)


def read_attempts(chunks: Iterable[bytes], emit: Callable[[Attempt], None]) -> ReportSummary:
    """Every attempt that can be read; `complete` only if the session wrote its last line and no line is damaged."""
    problems = Problems()
    reader = Reader(emit, problems, Tally())
    for number, line in enumerate(lines(chunks, problems), 1):
        if line.strip():
            reader.line(number, line)
    if reader.open:
        problems.damage("no last line: the session died")
    elif not reader.tally.sessions:
        problems.damage("no header")
    return reader.tally.summary("attempts", problems)


def lines(chunks: Iterable[bytes], problems: Problems) -> Iterator[bytes]:
    """Lines, whole however the chunks fall; one that is longer than any should be is left out, as an empty line."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts = chunk.split(b"\n")
        for part in parts[:-1]:
            yield _line(held, size, part, problems)
            held, size = [], 0
        size += len(parts[-1])
        if size <= limits.LINE_BYTES:
            held.append(parts[-1])
        else:
            held = []
    if size:
        yield _line(held, size, b"", problems)


def _line(held: list[bytes], size: int, last: bytes, problems: Problems) -> bytes:
    if size + len(last) > limits.LINE_BYTES:
        problems.damage(f"a line of more than {limits.LINE_BYTES:,} bytes: left out")
        return b""
    return b"".join([*held, last])
