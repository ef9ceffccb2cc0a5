"""What the recorder measured around a test decides on bytes; its files are written here line by line."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flake_report import understand
from flake_report.model.evidence import Blob, Build, Evidence, Job, JobState
from flake_report.model.failure import Diagnosis, DiagnosisKind

BUILD = Build("o", "p", "7", 7, "c0ffee", "main", "webhook", datetime(2026, 4, 15, tzinfo=UTC), "failed")
JOB = Job(
    id="j", step="kv", label="KV", queue="gpu", agent="a", host="h", state=JobState.FAILED, exit_status=1,
    signal_reason="", soft_failed=False, attempt=0, retry_type=None, retry_of=None, shard="", started_at=None,
    finished_at=None, command="",
)  # fmt: skip
LEAK = Path(__file__).parent.parent / "fixtures" / "attempts" / "attempts-leak.jsonl"
GIB = 1 << 30
TOTAL = 23676715008  # 22.05 GiB
REFUSED = (
    "ValueError: Free memory on device cuda:0 (10.93/22.05 GiB) on startup is less than desired GPU memory "
    "utilization (0.5, 11.02 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)
TEST = "v1/kv_connector/unit/test_nixl_connector_hma.py::test_fewer_blocks_with_hma[google/gemma-3-1b-it-512]"
LOG = f"""\
+++ Command (1/1): pytest -v v1/kv_connector/unit
============================= test session starts ==============================
=================================== FAILURES ===================================
_____________ test_fewer_blocks_with_hma[google/gemma-3-1b-it-512] _____________
E   {REFUSED}
=========================== short test summary info ============================
FAILED {TEST} - ValueError: Free memory on de...
========================= 1 failed, 1 passed in 61.17s =========================
"""


@pytest.fixture(scope="module")
def diagnose() -> Callable[..., Diagnosis]:
    table = understand.signature_table()

    def run(attempts_file: bytes, log: str = LOG) -> Diagnosis:
        report = Blob("attempts-j-1.jsonl", lambda: iter([attempts_file]))
        told = Blob("log", lambda: iter([log.encode()])) if log else None
        record = understand.read(Evidence(BUILD, JOB, (report,), told), table)
        assert record.versions.diagnosis
        [cause] = record.causes
        assert cause.test == TEST
        assert cause.diagnosis is not None
        return cause.diagnosis

    return run


def recorded(*attempts: dict[str, object]) -> bytes:
    header = {
        "schema": "gpu-guard-attempts/1", "job": "j", "session": "s-1", "started_at": "2026-04-15T18:40:02Z",
        "command": "pytest -v v1/kv_connector/unit", "host": "h", "pid": 512, "python": "3.12.11", "pytest": "8.3.5",
        "devices": [{"index": 0, "name": "NVIDIA L4", "total_bytes": TOTAL}],
    }  # fmt: skip
    end = {"finished_at": "2026-04-15T18:41:12Z", "exit_status": 1}
    return "\n".join(json.dumps(line) for line in (header, *attempts, end)).encode()


def attempt(*, used: int, torch: int, **fields: object) -> dict[str, object]:
    memory = {
        "device": 0, "used_before": used, "free_before": TOTAL - used, "torch_reserved_before": torch,
        "used_after": used, "free_after": TOTAL - used, "torch_reserved_after": torch,
    }  # fmt: skip
    given = {"nodeid": TEST, "attempt": 0, "position": 1, "pid": 512, "outcome": "failed", "message": REFUSED}
    return {**given, "memory": [memory], **fields}


def test_torchs_own_memory_as_the_test_began_was_left_by_an_earlier_test(diagnose) -> None:
    found = diagnose(LEAK.read_bytes())
    assert found.kind is DiagnosisKind.SAME_PROCESS
    # 11660836864 / 2^30 = 10.86, 11940561388 / 2^30 = 11.12
    assert found.sentence == (
        "held by this pytest process: 10.86 of the 11.12 GiB in use is torch's own: "
        "an earlier test in the session kept it"
    )
    assert found.evidence == ("recorder: torch had 11,660,836,864 of 11,940,561,388 bytes in use as the test began",)


def test_memory_outside_torch_as_the_test_began_is_another_process(diagnose) -> None:
    found = diagnose(recorded(attempt(used=11 * GIB, torch=0)))
    assert found.kind is DiagnosisKind.OTHER_PROCESS
    assert "11.00 GiB outside this process's torch was in use as the test began" in found.sentence


def test_a_process_that_the_recorder_lists_is_named(diagnose) -> None:
    holders = [
        {"pid": 512, "name": "/usr/bin/python3", "bytes": GIB // 4},
        {"pid": 3419, "name": "VLLM::EngineCore", "bytes": 10 * GIB},
    ]
    found = diagnose(recorded(attempt(used=11 * GIB, torch=0, holders=holders)))
    assert found.kind is DiagnosisKind.OTHER_PROCESS
    assert found.sentence.startswith("held by process 3419 (VLLM::EngineCore): 10.00 of the 11.12 GiB in use")


def test_the_tests_own_process_is_never_called_another(diagnose) -> None:
    holders = [{"pid": 512, "name": "/usr/bin/python3", "bytes": 11 * GIB}]
    found = diagnose(recorded(attempt(used=11 * GIB, torch=10 * GIB, holders=holders)))
    assert found.kind is DiagnosisKind.SAME_PROCESS


def test_a_rerun_that_passed_tells_a_slow_release(diagnose) -> None:
    passed = attempt(used=0, torch=0, attempt=1, outcome="passed", message="")
    found = diagnose(recorded(attempt(used=11 * GIB, torch=0), passed))
    assert found.kind is DiagnosisKind.SLOW_RELEASE
    assert found.sentence == (
        "0.09 GiB were missing, and came back by itself: attempt 2 of the test passed in the same session"
    )


def test_a_rerun_that_failed_as_well_tells_no_slow_release(diagnose) -> None:
    found = diagnose(recorded(attempt(used=11 * GIB, torch=0), attempt(used=11 * GIB, torch=0, attempt=1)))
    assert found.kind is DiagnosisKind.OTHER_PROCESS


def test_a_test_that_passes_in_another_session_tells_no_slow_release(diagnose) -> None:
    second = recorded(attempt(used=0, torch=0, outcome="passed", message="")).replace(b"s-1", b"s-2")
    found = diagnose(recorded(attempt(used=11 * GIB, torch=0)) + b"\n" + second)
    assert found.kind is DiagnosisKind.OTHER_PROCESS


def test_torchs_memory_before_the_first_test_is_no_earlier_tests(diagnose) -> None:
    found = diagnose(recorded(attempt(used=11 * GIB, torch=10 * GIB, position=0)))
    assert found.kind is DiagnosisKind.SAME_PROCESS
    assert "what ran before the first test kept it" in found.sentence


def test_an_event_that_no_log_tells_of_is_diagnosed_from_the_recorders_file_alone(diagnose) -> None:
    found = diagnose(LEAK.read_bytes(), log="")
    assert found.kind is DiagnosisKind.SAME_PROCESS


def test_an_event_that_the_log_tells_of_without_its_test_is_not_told_twice() -> None:
    report = Blob("attempts-j-1.jsonl", lambda: iter([LEAK.read_bytes()]))
    log = Blob("log", lambda: iter([f"{REFUSED}\n".encode()]))
    record = understand.read(Evidence(BUILD, JOB, (report,), log), understand.signature_table())
    assert [(cause.test, cause.line) for cause in record.causes] == [(None, 1)]


def test_an_idle_card_before_the_test_says_nothing_of_who_took_it_since(diagnose) -> None:
    found = diagnose(recorded(attempt(used=GIB // 4, torch=0)))
    assert found.kind is DiagnosisKind.UNDETERMINED
