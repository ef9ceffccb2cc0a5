"""Hostile and enormous files: read in little memory, and what was cut is said. Each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from flake_report.model.results import Attempt
from flake_report.parse import limits
from flake_report.parse.reports import read_report

MEGABYTES = 60
READ = """
import json, re, resource, sys
from pathlib import Path
from flake_report.parse.reports import read_report
def chunks():
    exec(sys.stdin.read(), globals())
    yield from document()
def peak():
    # What `resource` tells would hold the peak of the process that started this one.
    status = Path("/proc/self/status")
    if status.is_file():
        return int(re.search("VmHWM:\\s*(\\d+) kB", status.read_text())[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
held = []
summary = read_report("x.xml", chunks(), lambda attempt: held.append(attempt) if len(held) < 5 else None)
print(json.dumps({
    "mb": peak(),
    "cases": summary.cases, "failed": summary.failed, "suites": summary.suites, "tests": summary.tests,
    "complete": summary.complete,
    "reruns": summary.reruns, "flaky": summary.flaky,
    "warnings": [re.sub(r" \\(.* times\\)", "", str(one)) for one in summary.warnings],
    "texts": [len(one.text) for one in held], "messages": [len(one.message) for one in held],
    "known": [one.known for one in held],
}))
"""


def read_apart(document: str) -> dict[str, object]:
    """Reads what `document` yields, in a fresh process, and returns its counts and its peak memory."""
    done = subprocess.run(
        [sys.executable, "-c", READ], input=textwrap.dedent(document), capture_output=True, text=True, check=True
    )
    result: dict[str, object] = json.loads(done.stdout)
    return result


DOCUMENTS = {
    "300 MB of system-out": """
        def document():
            yield b'<testsuite name="s"><testcase name="a"><failure message="m">t</failure><system-out>'
            for _ in range(300): yield b'x &lt; y and so on and on ' * 40_000
            yield b'</system-out></testcase><testcase name="b"/></testsuite>'
        """,
    "300 MB of CDATA": """
        def document():
            yield b'<testsuite name="s"><testcase name="a"><failure><![CDATA['
            for _ in range(300): yield b']]x ]] > ' * 120_000
            yield b']]></failure></testcase><testcase name="b"/></testsuite>'
        """,
    "an attribute of 100 MB": """
        def document():
            yield b'<testsuite name="s"><testcase name="b"/><testcase name="a" classname="'
            for _ in range(100): yield b'x' * 1_000_000
            yield b'"/><testcase name="b"/></testsuite>'
        """,
    "a failure's message of 300 MB": """
        def document():
            yield b'<testsuite name="s"><testcase name="a"/><testcase name="b"><failure message="'
            for _ in range(300): yield b'x &lt; y and so on and on ' * 40_000
            yield b'">text</failure></testcase><testcase name="c"/></testsuite>'
        """,
    "a tag of 100,000 attributes": """
        def document():
            yield b'<testsuite name="s"><testcase name="a"/><testcase name="b"><failure'
            for n in range(100): yield b''.join(b' k%d=""' % (n * 1000 + k) for k in range(1000))
            yield b'>text</failure></testcase><testcase name="c"/></testsuite>'
        """,
    "a comment of 100 MB": """
        def document():
            yield b'<testsuite name="s"><testcase name="a"/><!--'
            for _ in range(100): yield b'- ' * 500_000
            yield b'--><testcase name="b"/></testsuite>'
        """,
    "100,000 suites in one another": """
        def document():
            yield b'<testsuite name="s">' * 100_000
            yield b'<testcase name="a"/>' + b'</testsuite>' * 100_000
        """,
    "200,000 suites of one case": """
        def document():
            yield b'<testsuites>'
            for n in range(200): yield b''.join(
                b'<testsuite name="s%d"><testcase classname="c%d" name="a"/></testsuite>' % (n * 1000 + k, n * 1000 + k)
                for k in range(1000))
            yield b'</testsuites>'
        """,
    "600,000 passes in one pytest suite": """
        def document():
            yield b'<testsuite name="pytest" tests="600000">'
            for n in range(600): yield b''.join(
                b'<testcase classname="tests.v1.module_%d" name="test_some[%d-x]" time="0.001" />' % (n, n * 1000 + k)
                for k in range(1000))
            yield b'</testsuite>'
        """,
    "200,000 passes and their reruns in one pytest suite": """
        def document():
            yield b'<testsuite name="pytest" tests="200000">'
            for n in range(200): yield b''.join(
                b'<testcase classname="tests.v1.module_%d" name="test_some[%d-x]" time="0.001" />' % (n, k)
                for k in range(1000)) + b'<testcase classname="m" name="rerun[%d]" time="1" />' % n * 2
            yield b'</testsuite>'
        """,
    "20,000 failures of 20 kB that do not compress": """
        import random
        def document():
            rng = random.Random(1)
            yield b'<testsuite name="s">'
            for n in range(20_000):
                text = rng.randbytes(10_000).hex().encode()
                yield b'<testcase classname="c" name="n%d"><failure message="m">%s</failure></testcase>' % (n, text)
            yield b'</testsuite>'
        """,
    "200,000 things that are wrong": """
        def document():
            yield b'<testsuite name="s"><testcase name="a"/>'
            for n in range(20): yield b'&%d; < </x> <y z> \\x1b ' % n * 10_000
            yield b'<testcase name="b"/></testsuite>'
        """,
    "a case with 200,000 failures": """
        def document():
            yield b'<testsuite name="s"><testcase name="a">'
            for _ in range(200): yield b'<failure message="mmmmmmmm">ttttttttttt</failure>' * 1000
            yield b'</testcase><testcase name="b"/></testsuite>'
        """,
    "entities that would grow to gigabytes": """
        def document():
            yield b'<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa">'
            for n in range(26): yield b'<!ENTITY b%d "' % n + b'&a;' * 10 + b'">'
            yield b']><testsuite name="s"><testcase name="&b25;"/><testcase name="b"/></testsuite>'
        """,
}
FACTS: dict[str, dict[str, object]] = {
    "300 MB of system-out": {"cases": 2, "complete": True},
    "300 MB of CDATA": {"cases": 2, "complete": True},
    "an attribute of 100 MB": {"cases": 3, "complete": True},
    "a failure's message of 300 MB": {"cases": 3, "failed": 1, "complete": True},
    "a tag of 100,000 attributes": {"cases": 3, "failed": 1, "complete": True},
    "a comment of 100 MB": {"cases": 2, "complete": True},
    "100,000 suites in one another": {"suites": limits.DEPTH, "complete": False},
    "200,000 suites of one case": {"cases": 200_000, "suites": 200_000, "complete": True},
    "600,000 passes in one pytest suite": {"cases": 600_000, "tests": 600_000, "complete": True},
    "200,000 passes and their reruns in one pytest suite": {
        "cases": 200_400,
        "tests": 200_200,
        "reruns": 200,
        "flaky": 200,
        "complete": True,
    },
    "20,000 failures of 20 kB that do not compress": {
        "cases": 20_000,
        "complete": True,
        "known": [False] * 5,
        "warnings": ["too large to tell which of its cases are reruns: attempts are marked as unknown"],
    },
    "200,000 things that are wrong": {"cases": 2, "complete": False},
    "a case with 200,000 failures": {"cases": 2, "complete": True},
    "entities that would grow to gigabytes": {"cases": 2, "complete": False},
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_enormous_document_is_read_in_little_memory(name: str) -> None:
    result = read_apart(DOCUMENTS[name])
    assert {key: result[key] for key in FACTS[name]} == FACTS[name]
    memory = result["mb"]
    assert isinstance(memory, float)
    assert memory < MEGABYTES


def test_a_text_that_is_too_long_keeps_its_ends_and_says_what_is_missing() -> None:
    body = "first line\n" + "x" * 3 * limits.TEXT + "\nlast line"
    attempts: list[Attempt] = []
    data = f'<testsuite name="s"><testcase name="a"><failure message="m">{body}</failure></testcase></testsuite>'
    read_report("x", [data.encode()], attempts.append)
    text = attempts[0].text
    assert text.startswith("first line\n")
    assert text.endswith("\nlast line")
    cut = len(body) - limits.TEXT
    assert f"[... {cut:,} characters cut ...]" in text
    assert len(text) < limits.TEXT + 100


def test_what_is_cut_is_the_same_whether_the_text_comes_at_once_or_in_blocks() -> None:
    """A text longer than a block is put together from pieces; the count of what is missing must be right."""
    body = "a" * 2 * limits.BLOCK_BYTES + "b" * 1000
    attempts: list[Attempt] = []
    data = f'<testsuite name="s"><testcase name="a"><failure message="m">{body}</failure></testcase></testsuite>'
    read_report("x", [data.encode()], attempts.append)
    assert f"[... {len(body) - limits.TEXT:,} characters cut ...]" in attempts[0].text


def test_no_entity_is_expanded_and_no_file_is_read() -> None:
    data = b"""<?xml version="1.0"?><!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]>
        <testsuite name="s"><testcase name="a"><failure message="&x;">&x;</failure></testcase></testsuite>"""
    attempts: list[Attempt] = []
    summary = read_report("x", [data], attempts.append)
    assert (attempts[0].message, attempts[0].text) == ("&x;", "&x;")
    assert not summary.complete
    assert "declares entities" in str(summary.warnings[0])
