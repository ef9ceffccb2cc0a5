"""The log of a real pytest run against the JUnit file of the same run, read here with nothing but lxml."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from lxml import etree

from flake_report.model.joblog import JobLog
from flake_report.model.results import Attempt, Outcome, Phase, ResultSource, TestId

OPTIONS = [
    "-v",
    "-v -s",
    "-vv",
    "-v -n 2",
    "-v --reruns 2",
    "-v -s --reruns 2",
    "-v --color=yes",
    "-v -s --color=yes --reruns 1",
    "-v -n 2 --reruns 1 --color=yes",
    "-v -rA --tb=short",
    "-v --tb=native",
    "-v -o console_output_style=count",
    "-v --durations=0",
]


@dataclass(frozen=True)
class Told:
    """One testcase element."""

    kind: str
    message: str
    text: str
    worker: str
    position: int


def trimmed(text: str) -> str:
    """Without white space at line ends, and without colours, which pytest's JUnit writer spells out."""
    return "\n".join(line.rstrip() for line in re.sub(r"#x1B\[[\d;]*m", "", text).strip().split("\n"))


def junit(path: Path) -> dict[TestId, list[Told]]:
    """Cases by test, in order; a second element for a broken tear-down is folded into the failed one before."""
    cases: dict[TestId, list[Told]] = defaultdict(list)
    for case in etree.parse(path).iter("testcase"):
        classname = (case.get("classname") or "").removeprefix("tests.")
        properties = {one.get("name"): one.get("value") or "" for one in case.iter("property")}
        found = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        kind = "passed" if found is None else found.get("type") or found.tag
        told = Told(
            kind if found is None or found.tag == "skipped" else found.tag,
            "" if found is None else trimmed(found.get("message") or ""),
            "" if found is None else trimmed(found.text or ""),
            properties.get("worker", ""),
            int(properties.get("position", -1)),
        )
        before = cases[TestId(classname, case.get("name") or "")]
        if before and before[-1].kind == "failure" and "teardown" in told.message:
            continue
        before.append(told)
    return cases


KINDS = {
    "passed": {Outcome.PASSED, Outcome.XPASSED},
    "pytest.skip": {Outcome.SKIPPED},
    "pytest.xfail": {Outcome.XFAILED},
    "failure": {Outcome.FAILED},
    "error": {Outcome.ERROR},
}


def by_test(log: JobLog) -> dict[TestId, list[Attempt]]:
    attempts: dict[TestId, list[Attempt]] = defaultdict(list)
    for attempt in log.attempts:
        attempts[attempt.test].append(attempt)
    return attempts


@pytest.mark.parametrize("options", OPTIONS)
def test_the_log_of_a_verbose_run_tells_what_its_junit_tells(
    options: str,
    run_pytest: Callable[..., object],
    outline: Callable[[bytes], JobLog],
    log_fixture: Callable[[str], str],
) -> None:
    run = run_pytest(options, log_fixture("run_of_everything.py.txt"))
    log, truth = outline(run.log), junit(run.junit)
    read = by_test(log)
    assert set(read) == set(truth)
    for test, cases in truth.items():
        attempts, last = read[test], cases[-1]
        assert [attempt.number for attempt in attempts] == list(range(len(cases))), test
        assert attempts[-1].outcome in KINDS[last.kind], test
        assert all(attempt.outcome.bad for attempt in attempts[:-1]), test
        assert attempts[-1].worker == last.worker, test
        assert attempts[-1].position == last.position, test
        assert {attempt.source for attempt in attempts} == {ResultSource.LOG}
        if last.kind == "failure":
            assert attempts[-1].phase is Phase.CALL, test
            kept, cut, _ = last.message.partition("\n[+")  # pytest's writer shortens its own message
            assert attempts[-1].message.startswith(kept), test
            assert cut or attempts[-1].message == kept, test
            assert last.text in attempts[-1].text, test
        elif last.kind == "error":
            assert attempts[-1].phase is (Phase.SETUP if "setup" in last.message else Phase.TEARDOWN), test
            assert attempts[-1].message in last.message, test
            assert last.text in attempts[-1].text, test
    (session,) = log.sessions
    assert session.ended
    assert log.warnings == ()


@pytest.mark.parametrize("options", ["-v", "", "-v -n 2"])
def test_failures_of_one_name_in_two_files_keep_their_own_text(
    options: str, run_pytest: Callable[..., object], outline: Callable[[bytes], JobLog]
) -> None:
    source = "import pytest\n@pytest.mark.parametrize('p', range(3))\ndef test_same(p): raise ValueError('{} %d' % p)\n"
    run = run_pytest(options, source.format("one"), also=source.format("also"))
    messages = {attempt.test: attempt.message for attempt in outline(run.log).attempts}
    assert messages == {test: cases[-1].message for test, cases in junit(run.junit).items()}
    assert len(messages) == 6


@pytest.mark.parametrize("options", ["", "-q", "-q --reruns 1", "-n 2", "--tb=line", "--tb=no"])
def test_a_quiet_log_tells_of_the_failures_alone(
    options: str,
    run_pytest: Callable[..., object],
    outline: Callable[[bytes], JobLog],
    log_fixture: Callable[[str], str],
) -> None:
    run = run_pytest(options, log_fixture("run_of_everything.py.txt"), ci=True)
    log, truth = outline(run.log), junit(run.junit)
    read = by_test(log)
    bad = {test: cases[-1] for test, cases in truth.items() if cases[-1].kind in ("failure", "error")}
    assert set(read) == set(bad)
    for test, case in bad.items():
        (attempt,) = read[test]
        assert attempt.outcome in KINDS[case.kind]
        assert attempt.position is None
        assert attempt.known is ("reruns" not in options)
        if case.kind == "failure":
            assert attempt.message == case.message


"""Passes stand in no line here: a reader who wants them needs `-v` or a report."""
