"""Where a message begins, and what tells of no failure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.classify.message import harmless, message


@pytest.mark.parametrize(
    "line",
    [
        "ValueError: bad",
        "    ValueError: bad",
        "E       ValueError: bad",
        "[rank0]: ValueError: bad",
        "[rank 3]: ValueError: bad",
        "(EngineCore_DP0 pid=17374) ERROR 09-28 15:47:24 [core.py:718] ValueError: bad",
        "(VllmWorker rank=0 pid=12) ERROR 09-28 15:47:24 [core.py:718] ValueError: bad",
        "(RayWorkerWrapper pid=7106, ip=10.0.0.1) ValueError: bad",
        "(Worker pid=148) ERROR 07-01 02:36:18 [v1/executor/multiproc_executor.py:870] ValueError: bad",
        "(VllmWorkerProcess pid=20493) ERROR 03-05 07:15:39 multiproc_worker_utils.py:240] ValueError: bad",
        "[multiproc_executor.py:492] ValueError: bad",
        "[Stage-1] (EngineCore pid=9) ValueError: bad",
        "  | (EngineCore_DP0 pid=6804) ValueError: bad",
        "engine-1  | ValueError: bad",
        "> ValueError: bad",
        "[2026-02-24T20:21:58Z] (EngineCore_DP0 pid=6940) ValueError: bad",
        "2026-07-29T17:45:22.4385450Z ValueError: bad",
        "2026-07-29 17:45:22,438 +0200 ValueError: bad",
        "[task 2025-02-13T21:40:31.706Z] 21:40:31    ERROR -  ValueError: bad",
        "11:02:14  ValueError: bad",
        "`ValueError: bad",
        "│ ValueError: bad",
    ],
)
def test_what_tools_put_before_a_message_goes(line):
    assert message(line) == "ValueError: bad"


@pytest.mark.parametrize(
    "line",
    [
        "TEST-UNEXPECTED-FAIL | a/b.html | it broke",
        "PROCESS-CRASH | it broke",
        "##[error]The operation was canceled.",
        "[ERROR] /src/A.java:[3,4] cannot find symbol",
        "--- FAIL: TestX (0.00s)",
    ],
)
def test_what_belongs_to_a_message_stays(line):
    assert message(line) == line


@pytest.mark.parametrize(
    "text",
    [
        'raise ValueError("No space left on device")',
        'f"Free memory on device {init_snapshot.device_} "',
        '"No available memory for the cache blocks. "',
        "'No space left on device',",
        'assert "out of memory" in str(error)',
        "+ echo 'Build left local git repository checkout dirty'",
        "++ grep -v error",
        "$ echo no space left on device",
        "# CUDA out of memory is caught below",
        "// free memory on device",
        "##[warning]Failed to download action 'x'",
        "[WARNING] Could not transfer artifact a:b:1 from/to central",
        "warning: no space left on device soon",
        "/usr/lib/x.py:365: DeprecationWarning: old",
        "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.",
    ],
)
def test_program_text_and_warnings_tell_of_no_failure(text):
    assert harmless(text)


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: bad",
        '"message": "API rate limit exceeded for user ID 1"',
        "WARNING: YOU ARE LEAKING THE WORLD",
        "assertion failed: left == right",
        "##[error]No space left on device",
        "logging failed: no space left on device",
    ],
)
def test_failures_are_not_taken_for_program_text(text):
    assert not harmless(text)


@given(st.text())
def test_a_message_is_the_end_of_its_line(text):
    assert text.rstrip().endswith(message(text))
