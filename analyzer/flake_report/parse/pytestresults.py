"""A finished pytest session to what crosses the seam: session, attempts, regions, warnings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from flake_report.model.joblog import Region, RegionKind, Session
from flake_report.model.results import Attempt, Outcome, ParseWarning, Phase, ResultSource

from .pytestattempts import Seen, Try, settled, tries
from .pytestfailures import FailureText, assign
from .pytestsession import PytestSession
from .testid import file_of_nodeid, from_nodeid

_BAD_WORDS = ("FAILED", "ERROR")


@dataclass(frozen=True, slots=True)
class PytestResults:
    """One session's words sorted by test, and its failure sections by test."""

    session: PytestSession
    tries: dict[str, list[Try]]
    texts: dict[str, list[FailureText]]
    quiet: bool

    @property
    def first_line(self) -> int:
        return self.session.first_line

    @property
    def counts(self) -> dict[str, int]:
        return self.session.counts or {}


def results(session: PytestSession) -> PytestResults:
    """Joins the parts of a session's output: lines of the run, failure sections, short summary, last line."""
    entries = [entry for entry in session.entries if entry.word in _BAD_WORDS]
    failed = {entry.nodeid for entry in entries if entry.word == "FAILED"}
    complete = session.ended and bool(failed or not (session.counts or {}).get("failed"))
    words: dict[str, list[Seen]] = defaultdict(list)
    for seen in session.seen:
        seen.word = settled(seen, failed, complete=complete)
        words[seen.nodeid].append(seen)
    for entry in entries:
        if all(seen.word not in _BAD_WORDS for seen in words[entry.nodeid]):
            words[entry.nodeid].append(Seen(entry.nodeid, entry.word, entry.first_line, entry.first_line))
    found = {nodeid: tries(seen) for nodeid, seen in words.items()}
    bad = [one for group in found.values() for one in group[-1:] if one.outcome.bad]
    bad.sort(key=lambda one: one.seen.line)
    sections = assign(
        session.failures,
        [entry.nodeid for entry in entries if entry.word == "FAILED"]
        or [one.seen.nodeid for one in bad if one.outcome is Outcome.FAILED],
        [entry.nodeid for entry in entries if entry.word == "ERROR"]
        or [one.seen.nodeid for one in bad if one.outcome is Outcome.ERROR or one.teardown_failed],
    )
    texts: dict[str, list[FailureText]] = defaultdict(list)
    for section in sections:
        texts[section.nodeid].append(section)
    return PytestResults(session, found, texts, quiet=not session.seen)


def session_of(session: PytestSession) -> Session:
    """The session with the runner's own counts; without its last line they are 0."""
    counts = session.counts or {}
    return Session(
        runner="pytest",
        first_line=session.first_line,
        last_line=session.last_line,
        command=session.command,
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0),
        errors=counts.get("error", 0),
        skipped=counts.get("skipped", 0),
        rerun=counts.get("rerun", 0),
        xfailed=counts.get("xfailed", 0),
        xpassed=counts.get("xpassed", 0),
        ended=session.ended,
        failures=tuple(dict.fromkeys(entry.nodeid for entry in session.entries if entry.word in _BAD_WORDS)),
    )


def attempts_of(found: PytestResults, ordinal: int, key: str, *, died: bool) -> Iterator[Attempt]:
    """The attempts that the session's lines tell of, in order of their first word.

    Without `-v` only failures have lines; they are all there is to know, unless the last line counts reruns too.
    `died` says that the command is known to have ended, so that a test without an outcome did not survive it.
    """
    rows = [(number, one, group) for group in found.tries.values() for number, one in enumerate(group)]
    rows.sort(key=lambda row: row[1].seen.first_line)
    position: Counter[str] = Counter()
    for number, one, group in rows:
        seen = one.seen
        sections = _sections(one, found) if one is group[-1] and one.outcome.bad else []
        yield Attempt(
            test=from_nodeid(seen.nodeid),
            outcome=Outcome.CRASHED if any(section.crashed for section in sections) else one.outcome,
            number=number,
            known=not (found.quiet and found.counts.get("rerun")),
            phase=Phase(sections[0].phase) if sections and sections[0].phase else one.phase,
            seconds=seen.seconds,
            started_at=seen.at,
            message=_message(one, sections, found),
            text="\n".join(line for section in sections for line in section.lines).strip("\n"),
            file=file_of_nodeid(seen.nodeid),
            session=str(ordinal),
            session_key=key,
            worker=seen.worker,
            position=None if found.quiet else position[seen.worker],
            source=ResultSource.LOG,
        )
        position[seen.worker] += 1
    session = found.session
    if died and not session.ended and session.unfinished:
        yield Attempt(
            test=from_nodeid(session.unfinished),
            outcome=Outcome.CRASHED,
            number=len(found.tries.get(session.unfinished, ())),
            phase=Phase.CALL,
            message=session.fatal[1] if session.fatal else "the session ended while this test ran",
            file=file_of_nodeid(session.unfinished),
            session=str(ordinal),
            session_key=key,
            position=position[""],
            source=ResultSource.LOG,
        )


def _sections(one: Try, found: PytestResults) -> list[FailureText]:
    """The failure sections of a test's last attempt, the one that decided its outcome first."""
    sections = found.texts.get(one.seen.nodeid, [])
    return sorted(sections, key=lambda section: not _decided(one, section))


def _decided(one: Try, section: FailureText) -> bool:
    return bool(section.phase) is not (one.outcome is Outcome.FAILED)


def _message(one: Try, sections: list[FailureText], found: PytestResults) -> str:
    """The best telling of why: the failure section, else the short summary, else the reason behind the word."""
    told = [section.message for section in sections if _decided(one, section)]
    if one.outcome.bad and not one.rerun:
        word = "FAILED" if one.outcome is Outcome.FAILED else "ERROR"
        entries = [entry for entry in found.session.entries if entry.nodeid == one.seen.nodeid]
        told += [entry.message for entry in entries if entry.word == word]
        told += [section.message for section in sections]
    return next(filter(None, told), one.seen.reason)


def regions_of(found: list[PytestResults]) -> tuple[Region, ...]:
    """Which lines tell of which test, in order, without overlap."""
    regions = sorted((region for one in found for region in _regions(one)), key=lambda region: region.first_line)
    kept: list[Region] = []
    for region in regions:
        if region.first_line <= region.last_line and (not kept or region.first_line > kept[-1].last_line):
            kept.append(region)
    return tuple(kept)


def _regions(found: PytestResults) -> Iterator[Region]:
    session = found.session
    for seen in session.seen:
        if seen.line > seen.first_line or seen.word in (*_BAD_WORDS, "RERUN"):
            yield Region(seen.first_line, seen.line, seen.nodeid, RegionKind.RUNNING)
    if session.unfinished and not session.ended:
        yield Region(session.unfinished_line, session.last_line, session.unfinished, RegionKind.RUNNING)
    for sections in found.texts.values():
        for section in sections:
            yield Region(section.first_line, section.last_line, section.nodeid or section.title, RegionKind.FAILURE)
    for entry in session.entries:
        if entry.word in _BAD_WORDS:
            yield Region(entry.first_line, entry.last_line, entry.nodeid, RegionKind.SUMMARY)


def warnings_of(found: PytestResults) -> list[ParseWarning]:
    """What the session's own last line says and its other lines do not bear out."""
    session = found.session
    warnings = [ParseWarning(message, f"line {line}") for message, line in session.warnings]
    if not session.ended:
        warnings.append(
            ParseWarning("this pytest session has no last line: it was cut off or died", f"line {session.first_line}")
        )
    elif session.headed and not found.quiet:
        last = Counter(group[-1].outcome for group in found.tries.values())
        for name in ("passed", "failed"):
            counted = found.counts.get(name, 0)
            extra = sum(
                one.teardown_failed and one.outcome is Outcome.ERROR for group in found.tries.values() for one in group
            )
            read = last[Outcome(name)] + (extra if name == "passed" else 0)
            if counted != read:
                place = f"line {session.last_line}"
                warnings.append(ParseWarning(f"pytest counts {counted} {name}, its lines show {read}", place))
    return warnings
