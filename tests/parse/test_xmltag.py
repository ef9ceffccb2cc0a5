"""Attributes of any length: the tag is read, the value's middle is cut, and that is said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.model.results import Attempt, Outcome, ReportSummary
from flake_report.parse import limits
from flake_report.parse.reports import read_report

CASES = (
    '<testsuite name="s" tests="3"><testcase classname="c" name="a"/>{}<testcase classname="c" name="z"/></testsuite>'
)


def read(document: str, cuts: list[int] | None = None) -> tuple[ReportSummary, list[Attempt]]:
    data = document.encode()
    ends = sorted({min(cut, len(data)) for cut in cuts or []})
    chunks = [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]
    attempts: list[Attempt] = []
    return read_report("x.xml", chunks, attempts.append), attempts


def failed(message: str, *, quote: str = '"', rest: str = ">body</failure>") -> str:
    case = f'<testcase classname="c" name="b"><failure message={quote}{message}{quote} type="T"{rest}</testcase>'
    return CASES.format(case)


def counts(summary: ReportSummary) -> tuple[object, ...]:
    return summary.cases, summary.passed, summary.failed, summary.errors, summary.skipped, summary.complete


@pytest.mark.parametrize("size", [60_000, 70_000, 900_000, 1_100_000, 1_300_000, 1_600_000, 4_000_000, 70_000_000])
def test_a_failure_with_a_message_of_any_length_failed(size: int) -> None:
    summary, attempts = read(failed("first " + "m" * (size - 11) + " last"))
    assert counts(summary) == (3, 2, 1, 0, 0, True)
    [bad] = [attempt for attempt in attempts if attempt.outcome is Outcome.FAILED]
    assert bad.message.startswith("first mmm")
    assert bad.message.endswith("mmm last")
    assert len(bad.message) < limits.MESSAGE + 60
    assert (bad.text, bad.test.name) == ("body", "b")
    told = [str(warning) for warning in summary.warnings]
    assert told == ([WARNING] if size > limits.VALUE else [])
    kept = sum(len(part) for part in (bad.message.partition("[...")[0], bad.message.partition("...]")[2]))
    assert abs(kept + int(bad.message.partition("[... ")[2].split()[0].replace(",", "")) - size) <= 2


WARNING = "the middle is cut of message= in <failure>: over 65,536 characters"


@pytest.mark.parametrize("rest", ["/>", ">body</failure>", "><![CDATA[body]]></failure>", "\n/>", " x='1'>b</failure>"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_long_tag_may_be_written_in_any_way(rest: str, quote: str) -> None:
    summary, _attempts = read(failed("m" * 1_600_000, quote=quote, rest=rest))
    assert counts(summary) == (3, 2, 1, 0, 0, True)


@pytest.mark.parametrize("size", [200_000, 2_000_000])
def test_tests_of_long_names_are_kept_and_told_apart_by_what_is_cut(size: int) -> None:
    half = "n" * (size // 2)
    cases = "".join(f'<testcase classname="c" name="{half}{middle}{half}"/>' for middle in "ABA")
    summary, attempts = read(CASES.format(cases))
    assert (summary.cases, summary.complete) == (5, True)
    names = [attempt.test.name for attempt in attempts]
    assert len(set(names)) == 4
    assert max(map(len, names)) <= limits.MESSAGE
    assert "cut of name= in <testcase>" in str(summary.warnings[0])


def test_a_name_is_shortened_to_the_same_wherever_in_the_file_it_stands() -> None:
    """Blocks end elsewhere in the second file: the tag is read at once in one, in parts in the other."""
    case = f'<testcase classname="c" name="{"&lt;é" * 200_000}"/>'
    found = {read(CASES.format(" " * space + case))[1][1].test.name for space in range(0, 800_000, 190_001)}
    assert len(found) == 1


@settings(deadline=None, max_examples=15)
@given(
    st.sampled_from(["message", "type", "name", "classname", "file"]),
    st.sampled_from(["m", "&lt;", "&#10;", "é", "a b\n", "> ' ", "]]&gt;", "/>", "x=y "]),
    st.lists(st.integers(0, 1_800_000), max_size=4),
)
def test_a_long_attribute_gives_the_counts_of_a_short_one(key: str, unit: str, cuts: list[int]) -> None:
    values = {"message": "m", "type": "t", "name": "b", "classname": "c", "file": "f"}
    summaries = []
    for length in (10, 1_700_000):
        values[key] = unit * (length // len(unit))
        case = (
            '<testcase classname="{classname}" name="{name}" file="{file}"><failure message="{message}" type="{type}"/>'
        )
        document = CASES.format(case.format(**values) + "</testcase>")
        summary, attempts = read(document, cuts)
        assert (summary, attempts) == read(document)
        summaries.append(counts(summary))
        assert ("cut of" in str(summary.warnings)) is (length > limits.VALUE)
    assert summaries == [(3, 2, 1, 0, 0, True)] * 2


@pytest.mark.parametrize("at", [5, 1_600_000 - 3])
def test_what_is_wrong_in_a_long_attribute_is_said(at: int) -> None:
    for odd, told in (("<", "`<` in an attribute"), ("& ", "`&` that begins no reference XML knows")):
        summary, _attempts = read(failed("m" * at + odd + "m" * (1_600_000 - at)))
        assert counts(summary) == (3, 2, 1, 0, 0, False)
        assert told in [warning.message for warning in summary.warnings]


def test_a_file_cut_inside_a_long_attribute_claims_no_pass() -> None:
    document = failed("m" * 4_000_000)
    for end in (1_000_000, 1_600_000, 3_999_999):
        summary, _attempts = read(document[:end])
        assert counts(summary) == (1, 1, 0, 0, 0, False)
        assert "ends inside a tag" in str(summary.warnings)


@pytest.mark.parametrize("many", [400, 600, 40_000])
def test_a_tag_of_many_attributes_is_read(many: int) -> None:
    more = " ".join(f'k{number}="v{number}{"x" * 40}"' for number in range(many))
    summary, _attempts = read(failed("m", rest=f" {more}>body</failure>"))
    assert counts(summary) == (3, 2, 1, 0, 0, True)


def test_a_name_without_end_is_no_attribute() -> None:
    summary, _attempts = read(CASES.format("<failure " + "k" * 3_000_000 + " <testcase name='y'/>"))
    assert (summary.cases, summary.complete) == (3, False)
