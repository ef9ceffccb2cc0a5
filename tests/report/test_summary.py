"""What was understood of a result file, in the stable keys."""

from __future__ import annotations

from flake_report.model.results import ParseWarning, ReportSummary
from flake_report.report.summary import to_json, understood

KEYS = [
    "file", "kind", "suites", "cases", "passed", "failed", "errors", "skipped", "tests", "reruns", "flaky",
    "complete", "warnings",
]  # fmt: skip


def test_the_stable_keys_in_order() -> None:
    summary = ReportSummary("junit", suites=1, cases=2, passed=2, tests=1, reruns=1, complete=False)
    told = to_json("a.xml", summary)
    assert list(told) == KEYS
    assert (told["cases"], told["reruns"], told["complete"]) == (2, 1, False)


def test_a_warning_is_one_sentence_with_its_place() -> None:
    summary = ReportSummary("junit", warnings=(ParseWarning("cut in the middle", "line 3"),))
    assert to_json("a.xml", summary)["warnings"] == ["line 3: cut in the middle"]


def test_a_format_that_is_only_named_is_not_understood() -> None:
    assert understood(ReportSummary("junit", complete=False))
    assert not understood(ReportSummary("trx"))
