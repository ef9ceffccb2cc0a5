"""Any file: counts on the whole corpus, what is no report, damage of every kind."""

from __future__ import annotations

import gc
import json
import re
from pathlib import Path

import pytest
from junitparser import JUnitXml, JUnitXmlError, TestCase, TestSuite
from lxml import etree

from flake_report.model.results import Attempt, Outcome, ReportSummary
from flake_report.parse.reports import read_report

COUNTS = ("suites", "cases", "passed", "failed", "errors", "skipped")
CASE = b'<testsuite name="s" tests="1"><testcase classname="c" name="n" time="1"/></testsuite>'


def read(data: bytes, name: str = "report.xml") -> tuple[ReportSummary, list[Attempt]]:
    attempts: list[Attempt] = []
    return read_report(name, [data], attempts.append), attempts


def told(summary: ReportSummary) -> str:
    return "\n".join(str(warning) for warning in summary.warnings)


def test_every_file_of_the_corpus_counts_as_it_was_counted_independently(corpus: Path) -> None:
    truth = {name: one for name, one in json.loads((corpus / "truth.json").read_text()).items() if name[0] != "_"}
    assert len(truth) == 342
    wrong = []
    for name, expected in truth.items():
        summary, attempts = read((corpus / name).read_bytes(), name)
        counted = {count: getattr(summary, count) for count in COUNTS}
        if counted != {count: expected[count] for count in COUNTS}:
            wrong.append((name, "counts", counted))
        sound = expected["well_formed"] and expected["is_junit"]
        if summary.complete != sound or (not sound and not summary.warnings):
            wrong.append((name, "complete", summary.complete))
        # A file of a test that failed outside all cases has an attempt more; all others have one a test and rerun.
        tests = len({attempt.test for attempt in attempts if attempt.test.apart != "suite"})
        if tests != summary.tests or len(attempts) < summary.cases:
            wrong.append((name, "tests", (tests, summary.tests)))
        if any(attempt.known for attempt in attempts) and expected["flaky_cases"] > summary.flaky:
            wrong.append((name, "flaky", summary.flaky))
    assert wrong == []


def test_a_passed_attempt_after_a_failed_one_is_never_seen_where_a_data_provider_repeats_a_name(corpus: Path) -> None:
    summary, _attempts = read((corpus / "junit" / "junit2html__tests_junit-cute2.xml").read_bytes())
    assert (summary.tests, summary.flaky, summary.reruns) == (43, 0, 0)


def walked(element: JUnitXml | TestSuite) -> list[tuple[str, str]]:
    """Class and name of every case that junitparser finds, nested suites included."""
    found = []
    for child in element:
        found += [(child.classname or "", child.name or "")] if isinstance(child, TestCase) else walked(child)
    if isinstance(element, TestSuite):
        for suite in element.testsuites():
            found += walked(suite)
    return found


def test_names_are_those_that_junitparser_reads_wherever_it_can(corpus: Path) -> None:
    compared = 0
    for path in sorted((corpus / "junit").iterdir()):
        data = path.read_bytes()
        try:
            expected = walked(JUnitXml.fromroot(etree.fromstring(data)))
        except (JUnitXmlError, etree.XMLSyntaxError):
            continue
        _summary, attempts = read(data)
        names = {(one.test.classname, one.test.name) for one in attempts if one.test.apart != "suite"}
        # pytest's `tests` folder is no part of a test's identity; junitparser does not know Codeception's `class`.
        same = {(classname.removeprefix("tests."), name) for classname, name in expected}
        strange = [one for one in names if not {one, (one[0].removeprefix("tests."), one[1]), ("", one[1])} & same]
        assert (strange, len(names) >= len(same)) == ([], True), path.name
        compared += 1
    assert compared > 300


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"),
        (b" \n\t ", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", "html"),
        (b"<html>login</html>", "html"),
        (b'<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"/>', "trx"),
        (b'<test-run id="2" testcasecount="3"/>', "nunit"),
        (b"<assemblies/>", "xunit.net"),
        (b'<Site BuildName="x"><Testing/></Site>', "ctest"),
        (b"<failsafe-summary/>", "failsafe-summary"),
        (b"<testng-results/>", "testng"),
        (b"<catalog><book/></catalog>", "unknown"),
        (b"TAP version 13\n1..1\nok 1\n", "tap"),
        (b'{"Time":"2026-11-20T10:00:00Z","Action":"run"}\n', "go test events"),
        (b'{"a": 1}', "json"),
        (b"[1, 2]", "json"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"Traceback (most recent call last):\n", "unknown"),
    ],
)
def test_what_is_no_report_is_named_and_never_a_clean_run(data: bytes, kind: str) -> None:
    summary, attempts = read(data)
    assert (summary.kind, summary.complete, summary.cases, attempts) == (kind, False, 0, [])
    assert summary.warnings


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"\xef\xbb\xbf" + CASE, id="a byte-order mark"),
        pytest.param(('<?xml version="1.0"?>' + CASE.decode()).encode("utf-16"), id="UTF-16 with a mark"),
        pytest.param(CASE.decode().encode("utf-16-le"), id="UTF-16 without a mark"),
        pytest.param(b'<?xml version="1.0" encoding="utf-16"?>' + CASE, id="UTF-16 declared and not true"),
        pytest.param(b'<?xml version="1.0" encoding="klingon"?>' + CASE, id="an encoding that nobody knows"),
        pytest.param(b'<?xml version="1.0" encoding="rot13"?>' + CASE, id="a codec that is no encoding"),
        pytest.param(CASE.replace(b" ", b"\r\n"), id="line ends of Windows"),
        pytest.param(CASE.replace(b'"', b"'"), id="single quotes"),
        pytest.param(b"<!-- c --><?pi x?>" + CASE + b"<!-- c -->\n", id="comments and instructions"),
        pytest.param(b'<!DOCTYPE testsuite SYSTEM "junit.dtd">' + CASE, id="a document type that declares nothing"),
    ],
)
def test_a_document_that_is_whole_is_read_whole(document: bytes) -> None:
    summary, attempts = read(document)
    assert (summary.cases, summary.passed, summary.complete) == (1, 1, True)
    assert [str(attempt.test) for attempt in attempts] == ["c::n"]


def test_latin_1_is_read_as_declared() -> None:
    document = '<?xml version="1.0" encoding="ISO-8859-1"?>' + CASE.decode().replace('"n"', '"né"')
    summary, attempts = read(document.encode("latin-1"))
    assert (summary.complete, attempts[0].test.name) == (True, "né")


DAMAGE = {
    "cut in a tag": (CASE[:70], "ends inside"),
    "cut before the root's end": (CASE[:-5], "ends inside"),
    "bytes that are no UTF-8": (CASE.replace(b'"n"', b'"n\xe9"'), "read as Latin-1"),
    "a raw escape in a text": (CASE.replace(b"/>", b"><system-out>\x1b[31m</system-out></testcase>"), "does not allow"),
    "a NUL": (CASE.replace(b'"n"', b'"n\0"'), "does not allow"),
    "a reference to NUL": (CASE.replace(b'"n"', b'"n&#0;"'), "does not allow"),
    "an unknown entity": (CASE.replace(b'"n"', b'"n&nbsp;"'), "begins no reference"),
    "a lone ampersand": (CASE.replace(b'"n"', b'"a & b"'), "begins no reference"),
    "a raw bracket in a value": (CASE.replace(b'"n"', b'"a<b"'), "`<` in an attribute"),
    "values without quotes": (CASE.replace(b'"n"', b"n"), "not well-formed"),
    "an attribute twice": (CASE.replace(b'name="n"', b'name="n" name="n"'), "attribute twice"),
    "an end tag of nothing": (CASE.replace(b"</", b"</x></"), "closes nothing"),
    "an element not closed": (CASE.replace(b"</testsuite>", b"<x></testsuite>"), "not closed"),
    "two documents": (CASE + CASE.replace(b'"n"', b'"m"'), "more than one document"),
    "output after the root": (CASE + b"\nDone in 3 s\n", "text after the document"),
    "output before the root": (b"running 1 test\n" + CASE, "text before the document"),
    "the end of a CDATA section in a text": (CASE.replace(b"/>", b"><system-out>]]></system-out></testcase>"), "]]>"),
    "a root that is none": (b"<nothing>" + CASE + b"</nothing>", "no JUnit root"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_document_is_read_as_far_as_can_be_and_never_complete(name: str) -> None:
    data, warning = DAMAGE[name]
    summary, attempts = read(data)
    assert not summary.complete
    assert warning in told(summary)
    assert summary.cases == (0 if name == "cut in a tag" else 2 if name == "two documents" else 1)
    assert len(attempts) == summary.cases


@pytest.mark.parametrize("value", ["a<b", "</testcase>", "></testcase>"])
@pytest.mark.parametrize("end", ["/>", "></testcase>"])
def test_a_raw_bracket_is_seen_in_a_later_case_too(value: str, end: str) -> None:
    cases = [f'<testcase classname="c" name="{name}" time="1"{end}' for name in ("first", value, "last")]
    summary, _attempts = read(f'<testsuite name="s" tests="3">{"".join(cases)}</testsuite>'.encode())
    assert (summary.cases, summary.complete) == (3, False)
    assert "`<` in an attribute" in told(summary)


def test_damage_is_told_with_its_line_and_once_however_often_it_comes() -> None:
    data = b'<testsuite name="s">\n' + b"<x>&a;</x>\n" * 500 + b"</testsuite>"
    summary, _attempts = read(data)
    assert told(summary) == "line 2: `&` that begins no reference XML knows (500 times)"


def test_a_case_that_is_cut_before_its_outcome_is_not_counted_as_a_pass() -> None:
    data = b'<testsuite name="s"><testcase name="a"/><testcase name="b"><system-out>so far'
    summary, attempts = read(data)
    assert (summary.cases, summary.passed, summary.complete) == (1, 1, False)
    assert "cut before its outcome" in told(summary)
    assert [attempt.test.name for attempt in attempts] == ["a"]


def test_a_case_that_is_cut_in_its_failure_is_a_failure() -> None:
    data = b'<testsuite name="s"><testcase name="b"><failure message="m">so far'
    summary, attempts = read(data)
    assert (summary.failed, summary.complete) == (1, False)
    assert (attempts[0].outcome, attempts[0].message, attempts[0].text) == (Outcome.FAILED, "m", "so far")


def test_references_and_cdata_are_resolved_once() -> None:
    message = "&lt;a&gt; &amp;lt; &#38;lt; &#x2713;&#10;next"
    body = "x &lt; y <![CDATA[ <raw> &amp; ]]]]><![CDATA[>]]>"
    data = f'<testsuite><testcase name="n"><failure message="{message}">{body}</failure></testcase></testsuite>'
    _summary, [attempt] = read(data.encode())
    assert attempt.message == "<a> &lt; &lt; ✓\nnext"
    assert attempt.text == "x < y  <raw> &amp; ]]>"


def test_names_with_line_breaks_are_read_as_xml_has_it() -> None:
    _summary, [first, second] = read(b'<testsuite><testcase name="a\nb"/><testcase name="a&#10;b"/></testsuite>')
    assert (first.test.name, second.test.name) == ("a b", "a\nb")


def test_a_default_namespace_or_a_prefix_changes_nothing() -> None:
    data = b'<j:testsuite xmlns:j="urn:x"><j:testcase name="n"><j:failure/></j:testcase></j:testsuite>'
    summary, _attempts = read(data)
    assert (summary.failed, summary.complete) == (1, True)


def test_a_warning_names_the_kind_and_the_root() -> None:
    summary, _attempts = read(b"<catalog/>")
    assert re.search("no test report: unknown with the root <catalog>", told(summary))


@pytest.mark.parametrize("cases", [2, 20_000], ids=["a small report", "a large one"])
def test_what_reading_took_is_free_again_without_a_search_for_cycles(cases: int) -> None:
    passed = "".join(f'<testcase classname="c" name="n{at}" time="1"/>' for at in range(cases))
    data = f'<testsuite name="pytest"><testcase name="f"><failure>x</failure></testcase>{passed}</testsuite>'.encode()
    read(data)  # what is made once and stays
    gc.collect()
    gc.disable()
    try:
        read(data)
        assert gc.collect() == 0
    finally:
        gc.enable()
