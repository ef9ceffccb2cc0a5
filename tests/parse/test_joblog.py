"""The outline as a whole: exit statuses, real logs, any bytes in any chunks."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.model.joblog import JobLog, RegionKind
from flake_report.parse.joblog import Outline, blocks

Read = Callable[[bytes], JobLog]

STATUS = "\x1b[31m🚨 Error: The command exited with status {}\x1b[0m\r\n"
HOOK = (
    '🚨 Error: Error tearing down job executor: running "plugin x pre-exit" shell hook: '
    "the plugin x pre-exit hook exited with status 9\n"
)
ENDS = {
    "the command's own status": ("^^^ +++\n" + STATUS.format(2) + "^^^ +++\n", 2, ""),
    "behind a stamp": ("\x1b_bk;t=1783974787899\x07" + STATUS.format(1), 1, ""),
    "in a log with text stamps": ("[2026-07-13T19:28:23Z] 🚨 Error: The command exited with status 137\n", 137, ""),
    "the user's command": ("user command error: exit status 3\n", 3, ""),
    "a plugin's command hook": ("user command error: The plugin docker command hook exited with status 125\n", 125, ""),
    "the command goes before the hook that failed after it": (HOOK + STATUS.format(4), 4, ""),
    "a hook alone": (HOOK, 9, ""),
    "a signal": ("🚨 Error: The command was interrupted by a signal: signal: killed\n", None, "killed"),
    "the user's command by signal": ("user command error: signal: terminated\n", None, "terminated"),
    "a cancelled job": ("\x1b[90m# Received cancellation signal, interrupting\x1b[0m\n", None, "cancellation"),
    "GitHub's runner": ("2026-07-30T10:55:18.1234567Z ##[error]Process completed with exit code 2.\n", 2, ""),
    "a green job says nothing": ("~~~ Running commands\nall is well\n", None, ""),
    "talk of an exit is none": ("the child exited with status 7\nTest exited with status 3\n", None, ""),
}


@pytest.mark.parametrize(("text", "status", "signal"), ENDS.values(), ids=ENDS)
def test_how_the_command_ended(text: str, status: int | None, signal: str, outline: Read) -> None:
    log = outline(text.encode())
    assert (log.exit_status, log.signal) == (status, signal)


REAL = {
    "vllm-buildkite-log_cudagraph_cuda_init_fail.txt": (1, [(10, 4, 2), (12, 0, 0)]),
    "vllm-buildkite-log_dynamo_regression.txt": (None, [(26, 1, 1)]),
    "vllm-buildkite-log_nixl_import_error.txt": (1, [(0, 1, 0)]),
    "vllm-buildkite-raw_log_snippet.bin": (1, [(8, 3, 0)]),
    "pytest-infrahouse-job-logs1.txt": (2, [(2, 0, 1)]),
    "pytorch-error_log_multiple_matches.txt": (1, [(128, 1, 0), (0, 1, 0), (0, 1, 0), (0, 0, 0)]),
    "rustlang-test_missing_line.txt": (None, []),
    "bk-terminal-buildah-build.raw": (1, []),
}
"""Exit status, and passed, failed, skipped of each pytest session: read in the files by eye."""


@pytest.mark.parametrize("name", REAL)
def test_real_logs_tell_their_exit_and_their_sessions(name: str, corpus: Path, outline: Read) -> None:
    log = outline((corpus / "logs" / name).read_bytes())
    sessions = [session for session in log.sessions if session.runner == "pytest"]
    assert (log.exit_status, [(one.passed, one.failed, one.skipped) for one in sessions]) == REAL[name]


def test_the_vllm_log_s_second_session_has_its_command_and_its_passes(corpus: Path, outline: Read) -> None:
    log = outline((corpus / "logs" / "vllm-buildkite-log_cudagraph_cuda_init_fail.txt").read_bytes())
    assert log.sessions[1].command == "pytest -v -s v1/cudagraph/test_breakable_cudagraph.py"
    second = [attempt for attempt in log.attempts if attempt.session == "2"]
    assert len(second) == 12
    assert {str(attempt.outcome) for attempt in second} == {"passed"}
    assert second[0].test.classname == "v1.cudagraph.test_breakable_cudagraph"
    assert second[0].started_at is not None


def real_logs(corpus: Path) -> list[tuple[str, bytes]]:
    found = [*(corpus / "logs").iterdir(), *(corpus / "gpu-runs").iterdir()]
    return [
        (path.name, gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
        for path in sorted(found)
    ]


def test_every_real_log_reads_the_same_in_blocks_of_any_size(corpus: Path, outline: Read) -> None:
    for name, data in real_logs(corpus):
        if len(data) > 2_000_000:
            continue
        whole, longest = outline(data), max(map(len, data.split(b"\n")))
        for size, overlap in ((1 << 20, 1 << 16), (70_001, 4_096), (len(data) + 1, 0)):
            reader = Outline()
            chunks = [data[start : start + 9_973] for start in range(0, len(data), 9_973)]
            for block in blocks(chunks, max(size, longest), overlap):
                reader.feed(block)
            assert reader.result() == whole, (name, size)
        assert whole.lines == data.count(b"\n") + (not data.endswith(b"\n"))


WORDS = [
    b"============================= test session starts ==============================\n",
    b"tests/a.py::test_x PASSED [ 50%]\n", b"tests/a.py::test_x FAILED\n", b"tests/a.py::test_y[a b] ", b"PASSED\n",
    b"tests/a.py::test_y RERUN\n", b"ERROR\n", b"[gw0] [ 5%] FAILED tests/a.py::test_z\n", b"2 workers [3 items]\n",
    b"=================================== FAILURES ===================================\n",
    b"____________ test_x ____________\n", b"E   ValueError: x\n", b"_ _ _ _ _\n",
    b"=========================== short test summary info ============================\n",
    b"FAILED tests/a.py::test_x - ValueError: x\n", b"ERROR tests/b.py\n",
    b"==== 1 failed, 1 passed in 0.01s ====\n", b"1 passed in 0.01s\n", b"$ pytest -v && pytest b\n",
    "🚨 Error: The command exited with status 1\n".encode(), b"\x1b_bk;t=1783974787899\x07", b"\r", b"\n", b"\x1b[31m",
    b"--- FAIL: TestX (0.01s)\n", b"FAIL\tpkg\t0.1s\n", b"test a::b ... ok\n", b"test result: ok. 1 passed; 0 failed\n",
    b"INFO 11-30 10:44:11 [a.py:1] non-default args: {'gpu_memory_utilization': 0.3}\n", b"\xff\0", b"words",
    b"| 0  NVIDIA L4  Off |\n", b"|  1MiB / 23034MiB |\n", b"Available KV cache memory: -0.2 GiB\n",
]  # fmt: skip

logs = st.one_of(st.binary(), st.lists(st.sampled_from(WORDS)).map(b"".join))


@given(logs, st.lists(st.integers(0, 3000)), st.integers(1, 400), st.integers(0, 300))
def test_any_bytes_in_any_chunks_give_one_outline(data: bytes, cuts: list[int], size: int, overlap: int) -> None:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    longest = max(map(len, data.split(b"\n")))
    outlines = []
    for chunks, block in (([data], len(data) + 1), ([data[a:b] for a, b in pairwise(places)], max(size, longest + 1))):
        reader = Outline()
        for one in blocks(chunks, block, overlap):
            reader.feed(one)
        outlines.append(reader.result())
    assert outlines[0] == outlines[1]
    assert outlines[0].lines == data.count(b"\n") + (data[-1:] not in (b"", b"\n"))


@given(logs)
def test_regions_are_in_order_and_inside_the_log(data: bytes) -> None:
    reader = Outline()
    for block in blocks([data]):
        reader.feed(block)
    log = reader.result()
    assert all(1 <= one.first_line <= one.last_line <= log.lines for one in log.regions)
    assert all(one.last_line < two.first_line for one, two in pairwise(log.regions))
    for region in log.regions:
        assert log.test_at(region.first_line) == region.test
        assert region.kind in RegionKind


def test_a_line_too_long_to_hold_is_said_and_its_end_is_read(outline: Read) -> None:
    data = b"first\n" + b"x" * 5_000 + b"\rtests/a.py::test_x PASSED [100%]\n==== 1 passed in 0.01s ====\n"
    reader = Outline()
    for block in blocks([data], 1_000, 100):
        reader.feed(block)
    log = reader.result()
    assert [str(warning) for warning in log.warnings] == [
        "line 2: this line is too long to be held whole: read in pieces"
    ]
    assert [session.passed for session in log.sessions] == [1]
    assert log.lines == 3
    assert outline(data).sessions[0].last_line == log.sessions[0].last_line == 3
