"""The quick way for small files gives what the streaming reader gives, and takes the files it is meant for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.model.results import Attempt, ReportSummary
from flake_report.parse.junit import read_small_xml, read_xml

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "junit"
Read = tuple[ReportSummary | None, list[Attempt]]


def told(reader: Callable[..., ReportSummary | None], data: object) -> Read:
    attempts: list[Attempt] = []
    return reader(data, attempts.append), attempts


def check_equal(data: bytes) -> bool:
    """Whether the quick way took the file; if so, all that it says is what the other says."""
    quick = told(read_small_xml, data)
    slow = told(read_xml, [data])
    counted = read_small_xml(data, None)
    assert read_xml([data], None) == slow[0]
    assert counted in (None, slow[0])  # to count Playwright's attempts, more than names must be read
    if quick[0] is None:
        assert quick[1] == []
        return False
    assert quick == slow
    return True


def test_it_says_the_same_of_every_file_of_the_corpus_that_it_takes(corpus: Path) -> None:
    files = sorted((corpus / "junit").iterdir())
    taken = [path.name for path in files if check_equal(path.read_bytes())]
    assert len(taken) > len(files) / 3


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.xml")), ids=lambda path: path.stem)
def test_it_says_the_same_of_every_dialect(path: Path) -> None:
    check_equal(path.read_bytes().partition(b"-->\n")[2])


CASE = '<testcase classname="c" name="first" time="1"/>'
PLAIN = '<testsuite name="s" tests="1"><testcase classname="c" name="n" time="1"/></testsuite>'


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(PLAIN, id="a suite alone"),
        pytest.param(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{PLAIN}\n{PLAIN}\n</testsuites>\n', id="suites"
        ),
        pytest.param(PLAIN.replace("<testcase", '<properties><property name="a" value="b"/></properties><testcase')),
        pytest.param(PLAIN.replace("</testsuite>", "<system-out><![CDATA[x]]></system-out></testsuite>"), id="output"),
        pytest.param(
            PLAIN.replace("/>", '><failure message="m" type="t">text &lt;</failure></testcase>'), id="a failure"
        ),
        pytest.param(PLAIN.replace("/>", "><system-out>a</system-out><system-err/></testcase>"), id="two children"),
        pytest.param(PLAIN.replace('"n"', '"a &amp; b é"'), id="references and other letters"),
    ],
)
def test_what_tools_mostly_write_is_taken(document: str) -> None:
    assert check_equal(document.encode())


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(PLAIN[:-1], id="a cut one"),
        pytest.param(PLAIN + PLAIN, id="two documents"),
        pytest.param(PLAIN.replace('"n"', '"a & b"'), id="a lone ampersand"),
        pytest.param(PLAIN.replace('"n"', '"a < b"'), id="a raw bracket"),
        pytest.param(PLAIN.replace("<testcase", f"{CASE}<testcase").replace('"n"', '"a < b"'), id="one after a case"),
        pytest.param(PLAIN.replace('"n"', '"></testcase>"').replace("/>", "></testcase>"), id="a tag in a value"),
        pytest.param(
            PLAIN.replace("<testcase", f"{CASE}<testcase").replace('"n"', '"</testcase>"'), id="and after one"
        ),
        pytest.param(PLAIN.replace('"n"', '"a\x1b"'), id="a control character"),
        pytest.param(PLAIN.replace("/>", "><failure>]]></failure></testcase>"), id="the end of a section"),
        pytest.param(PLAIN.replace('name="n"', 'name="n" name="n"'), id="an attribute twice"),
        pytest.param(PLAIN.replace('tests="1"', 'tests="2"'), id="a suite with fewer tests than it says"),
        pytest.param(PLAIN.replace("/>", "><flakyFailure/></testcase>"), id="attempts inside a case"),
        pytest.param(PLAIN.replace(" ", "\r\n"), id="other line ends"),
    ],
)
def test_what_needs_more_care_is_left_to_the_other(document: str) -> None:
    assert not check_equal(document.encode())


PARTS = [
    "<testsuites>", "</testsuites>", '<testsuite name="pytest" tests="2">', '<testsuite name="s">', "</testsuite>",
    '<testcase classname="c" name="n" time="1"/>', '<testcase classname="tests.c" name="n" time="1"/>',
    '<testcase name="m"></testcase>', '<testcase name=""/>', '<testcase name="n" status="notrun"/>',
    '<testcase classname="c" name="n" time="1"><failure message="a&#10;b">x</failure></testcase>',
    '<testcase classname="c" name="n" time="1"><skipped/><failure>x</failure></testcase>',
    '<testcase classname="c" name="a\nb" time="1"><error message="failed on teardown with &quot;x&quot;"/></testcase>',
    "<properties><property name='a' value='b'/></properties>",
    '<properties><property name="go.version" value="1"/></properties>', "<system-out>out</system-out>",
    "\n  ", "&", "x",
]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
@settings(max_examples=500, deadline=None)
def test_it_says_the_same_of_any_parts_put_together(document: str) -> None:
    check_equal(document.encode())
    check_equal(f'<testsuites><testsuite name="pytest" tests="3">{document}</testsuite></testsuites>'.encode())
