"""An explanation in words: the numbers are those of the log, and the advice holds."""

from __future__ import annotations

from rich.console import Console

from flake_report.model.failure import Blame, Cause, Diagnosis, DiagnosisKind, Explanation
from flake_report.report.explanation import (
    advice,
    headline,
    memory_line,
    to_json,
    to_text,
)

CAPTURES = {"device": "cuda:0", "free_gib": 4.51, "total_gib": 22.05, "utilization": 0.47, "requested_gib": 10.36}


def cause(**changes: object) -> Cause:
    fields = {
        "signature": "free-memory-on-device",
        "title": "too little free when the engine started",
        "blame": Blame.GPU_MEMORY,
        "line": 18204,
        "text": "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than …",
        "hint": "find what holds the memory",
        "test": "v1/x.py::test_y",
        "count": 4,
        "captures": CAPTURES,
    }
    return Cause(**{**fields, **changes})


def explanation(*causes: Cause, **changes: object) -> Explanation:
    fields = {"log": "build.log", "exit_status": 1, "sessions": 3, "passed": 412, "failed": 1, "causes": causes}
    return Explanation(**{**fields, **changes})


def printed(one: Explanation) -> str:
    console = Console(width=110, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        for part in to_text(one):
            console.print(part)
    return captured.get()


def test_the_numbers_of_the_second_known_failure_stand_in_one_line() -> None:
    # 10.36 - 4.51 = 5.85
    assert memory_line(CAPTURES) == "4.51 of 22.05 GiB free · asked 10.36 (utilization 0.47) · short by 5.85"


def test_the_numbers_of_the_first_known_failure_stand_in_one_line() -> None:
    first = {**CAPTURES, "free_gib": 10.93, "utilization": 0.5, "requested_gib": 11.02}
    assert memory_line(first) == "10.93 of 22.05 GiB free · asked 11.02 (utilization 0.5) · short by 0.09"


def test_a_log_that_ends_in_the_midst_of_a_session_is_not_said_to_be_green() -> None:
    cut = explanation(exit_status=None, sessions=1, passed=3, failed=0, cut_sessions=1)
    assert (
        headline(cut).plain
        == "? 1 test session · 3 passed, 0 failed · no failure so far: the log ends in the midst of it"
    )
    # A session may be cut on purpose: what counts is how the job ended.
    assert headline(explanation(exit_status=0, sessions=2, passed=3, failed=0, cut_sessions=1)).plain.startswith(
        "✓ exit 0"
    )


def test_sizes_that_print_alike_are_short_by_less_than_their_rounding() -> None:
    alike = {**CAPTURES, "free_gib": 11.02, "utilization": 0.5, "requested_gib": 11.02}
    assert memory_line(alike).endswith("short by less than 0.01")


def test_a_diagnosis_says_who_holds_the_memory_and_what_to_do() -> None:
    found = Diagnosis(DiagnosisKind.SAME_PROCESS, "held by this pytest process: 10.86", "shut it down", ("line 7: it",))
    one = cause(diagnosis=found)
    text = printed(explanation(one))
    assert "held by  this pytest process: 10.86" in text
    assert "do       shut it down" in text
    assert "find what holds the memory" not in text
    assert to_json(explanation(one))["causes"][0]["diagnosis"] == {
        "kind": "same-process",
        "sentence": "held by this pytest process: 10.86",
        "evidence": ["line 7: it"],
        "advice": "shut it down",
    }


def test_a_diagnosis_that_names_no_holder_says_what_happened() -> None:
    one = cause(diagnosis=Diagnosis(DiagnosisKind.SHORTAGE, "the setting asks for too much", "lower it"))
    assert "because  the setting asks for too much" in printed(explanation(one))


def test_captures_that_are_no_memory_numbers_give_no_line() -> None:
    assert memory_line({"free_gib": 4.51}) == ""
    assert memory_line({**CAPTURES, "requested_gib": "much"}) == ""


def test_the_page_gives_answer_place_evidence_and_advice() -> None:
    text = printed(explanation(cause()))
    assert text.splitlines()[0] == "✗ exit 1 · 3 test sessions · 412 passed, 1 failed"
    for part in (
        "GPU memory: too little free when the engine started",
        "line 18,204, printed 4 times",
        "v1/x.py::test_y",
        "short by 5.85",
        "0.20 is the most that would have started",
    ):
        assert part in text


def test_a_cause_without_memory_numbers_shows_the_line_of_the_log() -> None:
    one = cause(captures={}, blame=Blame.INFRA, text="No space left on device", test=None)
    assert "No space left on device" in printed(explanation(one))
    assert advice(one) == "find what holds the memory"


def test_a_green_log_says_that_nothing_failed() -> None:
    assert headline(explanation(exit_status=0, failed=0)).plain.startswith("✓ exit 0")


def test_a_log_that_does_not_tell_its_end_does_not_look_green() -> None:
    nothing = explanation(exit_status=None, sessions=0, passed=0, failed=0)
    assert headline(nothing).plain == "– no failure found; this log does not say how its job ended"


def test_an_allocation_that_failed_gets_no_advice_on_a_setting() -> None:
    # As torch says: 4.39 GiB tried on GPU 0, whose total capacity is 22.30 GiB, of which 2.94 GiB is free.
    captures = {"device": "0", "free_gib": 2.94, "total_gib": 22.30, "requested_gib": 4.39}
    assert memory_line(captures) == "2.94 of 22.30 GiB free · asked 4.39 more · short by 1.45"
    assert advice(cause(captures=captures)) == "find what holds the memory"
    assert "GPU 0" in printed(explanation(cause(captures=captures)))


def test_a_red_log_without_a_known_cause_does_not_look_green() -> None:
    assert headline(explanation(exit_status=1, failed=0)).plain.startswith("? exit 1")
    assert headline(explanation(exit_status=None, failed=2)).plain.startswith("?")


def test_a_test_name_is_never_markup() -> None:
    assert "test_a[bold red]" in printed(explanation(cause(test="x.py::test_a[bold red]")))


def test_json_holds_the_stable_keys_and_numbers_as_numbers() -> None:
    told = to_json(explanation(cause()))
    assert set(told) >= {"log", "exit_status", "causes", "warnings"}
    assert set(told["causes"][0]) >= {"signature", "blame", "line", "text", "test", "count", "captures", "hint"}
    assert told["causes"][0]["captures"]["free_gib"] == 4.51
    assert told["causes"][0]["blame"] == "gpu-memory"
