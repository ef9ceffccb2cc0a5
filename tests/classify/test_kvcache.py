"""No room for the KV cache: the numbers are those of real starts on an H200, and of arithmetic done by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flake_report.classify.scan import Scan
from flake_report.classify.verdict import causes
from flake_report.model.failure import Blame, Cause
from flake_report.parse.joblog import Outline, blocks, clean

REFUSED = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when …"
RED = "🚨 Error: The command exited with status 1"


def number(gib: float) -> str:
    return f"INFO 11-30 10:36:12 [gpu_worker.py:462] Available KV cache memory: {gib} GiB"


def weights(gib: float) -> str:
    return f"INFO 11-30 10:36:10 [gpu_model_runner.py:4566] Model loading took {gib} GiB memory and 2.3 seconds"


@pytest.fixture
def explain(table) -> Callable[..., tuple[Cause, ...]]:
    def run(log: bytes) -> tuple[Cause, ...]:
        outline, scan = Outline(), Scan(table, clean)
        for block in blocks([log]):
            outline.feed(block)
            scan.feed(block)
        return causes(scan.matches(), outline.result())

    return run


def lines(*told: str) -> bytes:
    return ("\n".join(told) + "\n").encode()


def test_a_hole_of_78_gib_is_contention_and_the_refusal_only_its_consequence(explain) -> None:
    [cause] = explain(lines(number(-78.4), REFUSED, RED))
    assert (cause.signature, cause.blame, cause.captures["missing_gib"]) == ("kv-cache-taken", Blame.GPU_MEMORY, 78.4)


def test_a_hole_that_the_engine_can_dig_itself_is_its_setting(explain) -> None:
    [cause] = explain(lines(number(-0.2), REFUSED, RED))
    assert (cause.signature, cause.blame) == ("no-kv-cache-memory", Blame.TEST)
    assert "gpu_memory_utilization" in cause.hint


def test_large_weights_explain_a_large_hole(explain) -> None:
    # 8 GiB asked, 14 GiB of weights and 1 of activation: 7 GiB short without anybody else.
    [cause] = explain(lines(weights(14.0), number(-7.0), REFUSED, RED))
    assert (cause.signature, cause.blame) == ("no-kv-cache-memory", Blame.TEST)


def test_without_the_number_nobody_can_tell(explain) -> None:
    [cause] = explain(lines(REFUSED, RED))
    assert (cause.signature, cause.blame) == ("no-kv-cache-memory", Blame.GPU_MEMORY)


def test_a_real_start_with_a_setting_of_one_thousandth_is_a_setting(explain, corpus: Path) -> None:
    [cause] = explain((corpus / "gpu-runs" / "nokv_mp0.log").read_bytes())
    assert (cause.signature, cause.blame) == ("no-kv-cache-memory", Blame.TEST)


def test_a_positive_number_is_nothing(explain) -> None:
    assert explain(lines(number(8.47), "===== 1 passed in 1.00s =====")) == ()
