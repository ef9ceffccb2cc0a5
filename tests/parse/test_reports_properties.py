"""What holds for any bytes, any cut and any chunks; lxml and junitparser are the judges where they can read."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml
from junitparser.xunit2 import JUnitXml as XunitXml
from lxml import etree

from flake_report.model.results import Attempt, ReportSummary
from flake_report.parse import limits
from flake_report.parse.decode import blocks, text_blocks
from flake_report.parse.problems import Problems
from flake_report.parse.reports import read_report
from flake_report.parse.xmlscan import XmlScanner

PIECES = [
    '<testsuite name="s" tests="3">', "</testsuite>", '<testcase classname="c" name="n" time="1"/>',
    '<testcase classname="c" name="m">', "</testcase>", '<failure message="a &lt; b">', "</failure>", "<skipped/>",
    "<system-out>", "</system-out>", "text", " ", "\n", "&amp;", "&#10;", "&#0;", "&nbsp;", "&", "<", ">", "]]>", "]",
    "<![CDATA[", "<!--", "-->", "--", "<?pi ", "?>", "<!DOCTYPE x [", '"', "'", "=", 'a="', " b='1'", "é", "\0",
    "\x1b", "\ufeff", "<properties>", "</properties>", '<property name="go.version" value="1"/>', "<x", "/>",
    "<flakyFailure>", "</flakyFailure>", "<testsuites>", "</testsuites>", '<?xml version="1.0" encoding="latin-1"?>',
]  # fmt: skip
soup = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
name = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=12)
text = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=30)


def read(*chunks: bytes) -> tuple[ReportSummary, list[Attempt]]:
    attempts: list[Attempt] = []
    return read_report("any.xml", chunks, attempts.append), attempts


def check_sane(summary: ReportSummary, attempts: list[Attempt]) -> None:
    assert summary.passed + summary.failed + summary.errors + summary.skipped == summary.cases
    assert summary.complete or summary.warnings
    numbers: dict[object, int] = {}
    for attempt in attempts:
        key = (attempt.session, attempt.test)
        assert attempt.number == numbers.get(key, 0)
        numbers[key] = attempt.number + 1


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_exception(data: bytes) -> None:
    check_sane(*read(data))


@given(soup)
@settings(max_examples=400, deadline=None)
def test_any_soup_of_markup_is_read_without_an_exception(data: str) -> None:
    check_sane(*read(data.encode()))
    check_sane(*read(data.encode("utf-16")))


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """A valid document with suites, cases and children in many forms."""
    root = etree.Element("testsuites")
    for _ in range(draw(st.integers(0, 3))):
        suite = etree.SubElement(root, "testsuite", name=draw(name), tests=str(draw(st.integers(0, 9))))
        if draw(st.booleans()):
            suite.set("hostname", draw(name))
        for _ in range(draw(st.integers(0, 5))):
            case = etree.SubElement(suite, "testcase", classname=draw(name), name=draw(name))
            case.set("time", draw(st.sampled_from(["1", "0.25", "1,234.5", "NaN", "-1", ""])))
            for kind in draw(st.lists(st.sampled_from(KINDS), max_size=3)):
                child = etree.SubElement(case, kind)
                child.text = etree.CDATA(draw(text)) if draw(st.booleans()) else draw(text)
                if kind not in ("system-out", "system-err"):
                    child.set("message", draw(text))
    written: bytes = etree.tostring(
        root,
        xml_declaration=True,
        encoding=draw(st.sampled_from(["utf-8", "utf-16", "ascii"])),
        pretty_print=draw(st.booleans()),
    )
    return written


KINDS = ["failure", "error", "skipped", "flakyFailure", "flakyError", "rerunFailure", "rerunError", "system-out"]


@settings(deadline=None)
@given(documents(), st.data())
def test_any_chunking_gives_the_same_records(document: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(document)), max_size=6)))
    chunks = [document[start:end] for start, end in zip([0, *cuts], [*cuts, len(document)], strict=True)]
    assert read(*chunks) == read(document)


@given(documents(), st.data())
@settings(max_examples=300, deadline=None)
def test_a_document_cut_anywhere_is_never_complete_and_claims_no_pass_that_was_not_there(
    document: bytes, data: st.DataObject
) -> None:
    whole, _attempts = read(document)
    assert whole.complete
    end = len(document.rstrip(b"\n\0"))
    summary, attempts = read(document[: data.draw(st.integers(0, end - 1))])
    assert not summary.complete
    assert summary.passed <= whole.passed
    check_sane(summary, attempts)


@settings(deadline=None)
@given(documents())
def test_counts_are_those_of_a_tree_walk(document: bytes) -> None:
    summary, attempts = read(document)
    check_sane(summary, attempts)
    counts = {"suites": 0, "cases": 0, "failed": 0, "errors": 0, "skipped": 0}
    for element in etree.fromstring(document).iter("testsuite", "testcase"):
        if element.tag == "testsuite":
            counts["suites"] += 1
            continue
        counts["cases"] += 1
        kinds = {child.tag for child in element}
        outcome = next((word for kind, word in OUTCOMES if kind in kinds), None)
        if outcome:
            counts[outcome] += 1
    assert counts == {key: getattr(summary, key) for key in counts}


OUTCOMES = (("failure", "failed"), ("error", "errors"), ("skipped", "skipped"))


@settings(deadline=None)
@given(documents())
def test_names_messages_and_texts_are_those_that_junitparser_reads(document: bytes) -> None:
    _summary, attempts = read(document)
    expected = []
    for suite in XunitXml.fromroot(etree.fromstring(document)):
        for case in suite:
            told = [*case.result, *case.interim_result]
            messages = {word: [one.message or "" for one in told if type(one).__name__ == word] for word in FINAL}
            bad = messages["Failure"] or messages["Error"]
            expected.append((case.classname or "", case.name or "", bad[:1]))
    finals = [attempt for attempt in attempts if attempt.number == 0]
    assert [(one.test.classname, one.test.name) for one in finals] == [(one, two) for one, two, _bad in expected]
    for attempt, (_classname, _name, bad) in zip(finals, expected, strict=True):
        if bad and bad[0]:
            assert bad[0] in [one.message for one in attempts if one.test == attempt.test]


FINAL = ("Failure", "Error")


class Recorder:
    """A target that writes down what it is told, in the form that lxml's events have."""

    wants_text = True

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []
        self._names: list[str] = []
        self._root = True

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._names.append(name)
        self.told.append((name, attributes))

    def end(self) -> None:
        self.told.append(("/", self._names.pop()))

    def text(self, piece: str, *, literal: bool) -> None:
        self.told.append(("literal" if literal else "text", piece))

    def leaf(self, name: str, attributes: dict[str, str], text: str, *, literal: bool) -> None:
        self.start(name, attributes)
        self.text(text, literal=literal)
        self.end()

    def bulk(self, _buffer: str, at: int) -> int:
        return at


def scanned(document: bytes) -> tuple[list[tuple[str, object]], bool]:
    problems, recorder = Problems(), Recorder()
    scanner = XmlScanner(recorder, problems)
    for piece in text_blocks(blocks([document]), problems):
        scanner.feed(piece)
    scanner.close()
    return recorder.told, problems.damaged


@given(soup)
@settings(max_examples=600, deadline=None)
def test_what_lxml_calls_well_formed_is_not_damaged_and_what_it_refuses_is(document: str) -> None:
    data = f"<testsuite>{document}</testsuite>".encode()
    if re.search("<!DOCTYPE|<[?]|<!--", document):
        return  # a document type makes other rules; names and dashes in what is skipped are nobody's business
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        etree.fromstring(data, parser)
        well_formed = True
    except etree.XMLSyntaxError:
        well_formed = False
    told, damaged = scanned(data)
    assert damaged is not well_formed, told


@settings(deadline=None)
@given(documents())
def test_elements_and_attributes_come_in_the_order_in_which_lxml_walks(document: bytes) -> None:
    told, damaged = scanned(document)
    assert not damaged
    starts = [(one, attributes) for one, attributes in told if isinstance(attributes, dict)]
    assert starts == [(one.tag, dict(one.attrib)) for one in etree.fromstring(document).iter()]


def test_junitparser_counts_the_same_on_a_large_document() -> None:
    cases = "".join(
        f'<testcase classname="c" name="n{n}" time="0.5"' + ("><failure>x</failure></testcase>" if n % 9 == 0 else "/>")
        for n in range(20_000)
    )
    document = f'<testsuites><testsuite name="s" tests="20000">{cases}</testsuite></testsuites>'.encode()
    assert len(document) > 3 * limits.BLOCK_BYTES
    [suite] = JUnitXml.fromstring(document)
    failed = sum(1 for case in suite if case.result)
    summary, attempts = read(document)
    assert (summary.cases, summary.failed, summary.complete) == (20_000, failed, True)
    assert sum(attempt.seconds or 0 for attempt in attempts) == 10_000
