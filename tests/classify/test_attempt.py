"""Why an attempt failed: a failure is never excused by what else was printed beside it."""

from __future__ import annotations

import pytest

from flake_report.classify.attempt import signature_of
from flake_report.model.failure import Blame, Cause

FREE = (
    "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory utilization "
    "(0.47, 10.36 GiB)."
)
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.35 GiB. GPU 0 has a total capacity of 14.74 GiB"
WRAPPER = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
PRINTED = "----------------------------- Captured stdout call -----------------------------"
MEMORY = Cause("free-memory-at-start", "t", Blame.GPU_MEMORY, line=5, text=FREE, hint="h", test="x.py::t")


def blame(found: tuple[str, Blame] | None) -> Blame | None:
    return found[1] if found else None


def test_the_message_decides(table) -> None:
    assert signature_of(FREE, "", [], table) == ("free-memory-at-start", Blame.GPU_MEMORY)


@pytest.mark.parametrize(
    "message",
    ["boom", "assert 1 == 2", "Failed: DID NOT RAISE <class 'ValueError'>", "mylib.errors.Mismatch: 3 != 4"],
)
def test_a_failure_of_its_own_is_not_excused_by_the_logs_cause(table, message: str) -> None:
    assert blame(signature_of(message, f"E   {message}", [MEMORY], table)) not in {Blame.GPU_MEMORY, Blame.GPU}


def test_a_failed_comparison_is_not_excused_by_what_the_test_printed(table) -> None:
    text = f"E   assert 3 == 4\n{PRINTED}\nretrying after {OOM}\n"
    assert blame(signature_of("assert 3 == 4", text, [], table)) is not Blame.GPU_MEMORY


def test_a_wrapper_is_explained_by_what_the_test_printed(table) -> None:
    text = f"E   {WRAPPER}\n{PRINTED}\n(EngineCore pid=7) ERROR 11-30 10:00:00 [core.py:935] {FREE}\n"
    assert blame(signature_of(WRAPPER, text, [], table)) is Blame.GPU_MEMORY


def test_a_wrapper_is_explained_by_the_log(table) -> None:
    assert signature_of(WRAPPER, f"E   {WRAPPER}", [MEMORY], table) == ("free-memory-at-start", Blame.GPU_MEMORY)


def test_a_wrapper_that_nothing_explains_has_no_signature(table) -> None:
    assert signature_of(WRAPPER, "", [], table) is None


def test_an_attempt_without_text_takes_the_logs_cause(table) -> None:
    assert signature_of("", "", [MEMORY], table) == ("free-memory-at-start", Blame.GPU_MEMORY)


def test_a_message_that_was_cut_is_read_from_the_traceback(table) -> None:
    assert blame(signature_of("ValueError: Free memory on de...", f"E   {FREE}", [], table)) is Blame.GPU_MEMORY


def test_text_without_pytests_marks_is_all_failure(table) -> None:
    assert (
        blame(signature_of("Failed", "panic: test timed out after 1s\n\ngoroutine 7 [running]:", [], table))
        is Blame.TEST
    )
