"""What held the memory: messages of public threads with the verdict that was found there, and real runs on an H200."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flake_report import flow
from flake_report.model.evidence import Blob
from flake_report.model.failure import Cause, Diagnosis, DiagnosisKind

FIXTURE = Path(__file__).parent.parent / "fixtures" / "classify" / "seen.toml"
SEEN = tomllib.loads(FIXTURE.read_text(encoding="utf-8"))["seen"]
SAME, OTHER, SHORT = DiagnosisKind.SAME_PROCESS, DiagnosisKind.OTHER_PROCESS, DiagnosisKind.SHORTAGE
SLOW, CONTENTION = DiagnosisKind.SLOW_RELEASE, DiagnosisKind.CONTENTION
UNKNOWN = DiagnosisKind.UNDETERMINED


@pytest.fixture(scope="module")
def causes() -> Callable[..., tuple[Cause, ...]]:
    table = flow.signature_table()

    def run(log: str | bytes) -> tuple[Cause, ...]:
        data = log if isinstance(log, bytes) else log.encode()
        return flow.explain(Blob("job.log", lambda: iter([data + b"\n"])), table).causes

    return run


@pytest.fixture(scope="module")
def diagnose(causes: Callable[..., tuple[Cause, ...]]) -> Callable[..., Diagnosis]:
    """The one diagnosis that a log has."""

    def run(log: str | bytes) -> Diagnosis:
        [cause] = causes(log)
        assert cause.diagnosis is not None
        return cause.diagnosis

    return run


def refused(free: float, total: float, utilization: float, requested: float, device: str = " cuda:0") -> str:
    return (
        f"ValueError: Free memory on device{device} ({free}/{total} GiB) on startup is less than desired GPU memory "
        f"utilization ({utilization}, {requested} GiB). Decrease GPU memory utilization or reduce GPU memory used by "
        "other processes."
    )


def snapshot(free: float, total: float, torch: float) -> str:
    used = round(total - free, 2)
    return (
        f"init_snapshot = torch_peak=11.17GiB, free_memory={free}GiB, total_memory={total}GiB, cuda_memory={used}GiB, "
        f"torch_memory={torch}GiB, non_torch_memory={round(used - torch, 2)}GiB, timestamp=1776278696.48"
    )


@pytest.mark.parametrize("seen", [one for one in SEEN if "diagnosis" in one], ids=lambda seen: seen["where"])
def test_a_message_that_was_seen_is_diagnosed_as_the_fixture_says(seen, diagnose) -> None:
    assert diagnose(seen["log"]).kind.value == seen["diagnosis"]


def test_the_first_known_failure_was_torchs_own(diagnose) -> None:
    header = "============================= test session starts ==============================\n"
    found = diagnose(header + snapshot(10.93, 22.05, 10.86) + "\n" + refused(10.93, 22.05, 0.5, 11.02))
    assert found.kind is SAME
    assert found.sentence == (
        "held by this pytest process: 10.86 of the 11.12 GiB in use is torch's own: "
        "an earlier test in the session kept it"
    )
    assert "engine_core.shutdown()" in found.advice
    assert found.evidence == ("line 2: MemorySnapshot, torch 10.86 of 11.12 GiB in use",)


SESSION = f"""\
============================= test session starts ==============================
t.py::test_a PASSED                                                      [ 50%]
t.py::test_b FAILED                                                      [100%]

=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
{snapshot(10.93, 22.05, 10.86)}
E   {refused(10.93, 22.05, 0.5, 11.02)}
================================== gpu-guard ===================================
{{left}}
=========================== short test summary info ============================
FAILED t.py::test_b - ValueError: Free memory on de...
========================= 1 failed, 1 passed in 22.17s =========================
"""


def test_the_test_that_the_recorder_measured_is_named(diagnose) -> None:
    left = "t.py::test_a left 10.8 GiB in t.KEPT['cache'] (10.8 GiB, 5,798,205,850 bfloat16); the next test started …"
    found = diagnose(SESSION.format(left=left))
    assert found.kind is SAME
    assert found.sentence == (
        "held by this pytest process: 10.86 of the 11.12 GiB in use is torch's own: "
        "t.py::test_a left 10.8 of it in t.KEPT['cache'] (10.8 GiB, 5,798,205,850 bfloat16)"
    )
    assert found.evidence[-1] == "line 10: gpu-guard's summary"


@pytest.mark.parametrize(
    "left",
    [
        pytest.param("t.py::test_a left 3.2 GiB; the next test started with 3.2 GiB less", id="too little of it"),
        pytest.param("t.py::test_b left 10.8 GiB", id="the one that failed"),
        pytest.param("the job left 10.8 GiB in use", id="no test"),
    ],
)
def test_what_others_left_is_not_taken_for_the_cause(left: str, diagnose) -> None:
    assert diagnose(SESSION.format(left=left)).sentence.endswith("an earlier test in the session kept it")


def test_the_second_known_failure_stays_unknown_with_the_setting_that_would_have_started(diagnose) -> None:
    found = diagnose(refused(4.51, 22.05, 0.47, 10.36))
    assert found.sentence == "held by unknown: this log has no snapshot and no holder list"
    assert found.advice.startswith("0.20 is the most that would have started; ")


RUNS = {
    "freemem_mp0": (UNKNOWN, "no snapshot"),
    "freemem_mp1": (OTHER, "EngineCore pid=1306"),
    "minkv_mp0": (SHORT, "0.06 GiB is needed"),
    "nokv_mp0": (SHORT, "-0.20 GiB"),
    "nvml": (OTHER, "process 706: 130.51 of the 131.03 GiB"),
    "oom_kv_mp0": (OTHER, "process 2627: 129.51 of the 130.34 GiB"),
    "profiling_mp0": (OTHER, "let 39.70 GiB go"),
    "profiling_mp1": (OTHER, "let 39.70 GiB go"),
    "pytest_freemem_mp0": (OTHER, "all 111.03 GiB in use is outside this process's torch"),
    "pytest_freemem_mp1": (OTHER, "EngineCore pid=904"),
    "same_mp0_none": (SAME, "took 83.59 GiB, as much as the 84.37 in use"),
}
"""How each run was made is known: another process held 110 GiB, grabbed or freed memory, or the first engine stayed."""


@pytest.mark.parametrize(("name", "kind", "says"), [(name, *truth) for name, truth in RUNS.items()], ids=list(RUNS))
def test_a_real_run_is_diagnosed_as_it_was_made(
    name: str, kind: DiagnosisKind, says: str, corpus: Path, diagnose
) -> None:
    found = diagnose((corpus / "gpu-runs" / f"{name}.log").read_bytes())
    assert found.kind is kind
    assert says in found.sentence


def test_no_green_run_has_a_diagnosis(corpus: Path, causes) -> None:
    for path in sorted((corpus / "gpu-runs").glob("*.log")):
        if path.stem not in RUNS:
            assert causes(path.read_bytes()) == (), path.name


def pytest_log(*body: str, ended: str = "1 failed, 3 passed in 61.00s") -> str:
    start = "============================= test session starts =============================="
    return "\n".join([start, *body, f"========================= {ended} ========================="])


def failure(name: str, *lines: str, says: str = "ValueError: Free memory on de...") -> Iterator[str]:
    yield "=================================== FAILURES ==================================="
    yield f"{f' {name} ':_^80}"
    yield from lines
    yield "=========================== short test summary info ============================"
    yield f"FAILED kv/test_hma.py::{name} - {says}"


def engine(utilization: float, kv: float, process: str = "") -> list[str]:
    info = f"{process}INFO 06-19 12:57:29"
    return [
        f"INFO 06-19 12:57:20 [api_utils.py:273] non-default args: {{'gpu_memory_utilization': {utilization}}}",
        f"{info} [core.py:113] Initializing a V1 LLM engine (v0.23.0) with config: model='m'",
        f"{info} [gpu_model_runner.py:5187] Model loading took 1.9 GiB memory and 0.4 seconds",
        f"{info} [gpu_worker.py:480] Available KV cache memory: {kv} GiB",
        f"{info} [core.py:313] init engine (profile, create kv cache, warmup model) took 8.37 s",
    ]


def starts(utilization: float, process: str = "") -> list[str]:
    return engine(utilization, 0, process)[:2]


def test_an_engine_of_an_earlier_test_that_took_as_much_is_named(diagnose) -> None:
    # 8.6 + 1.9 = 10.5 GiB taken; 22.05 - 10.93 = 11.12 in use: 0.62 more, for a context and its like.
    log = pytest_log(
        "kv/test_nixl.py::test_abort",
        *engine(0.5, 8.6),
        "PASSED",
        "kv/test_hma.py::test_fewer",
        *starts(0.5),
        "FAILED",
        *failure("test_fewer", "E   " + refused(10.93, 22.05, 0.5, 11.02)),
    )
    found = diagnose(log)
    assert found.kind is SAME
    assert (
        "the engine that kv/test_nixl.py::test_abort started took 10.50 GiB, as much as the 11.12 in use"
        in found.sentence
    )


def test_an_engine_of_an_earlier_test_in_a_process_of_its_own_is_another_process(diagnose) -> None:
    log = pytest_log(
        "kv/test_nixl.py::test_abort",
        *engine(0.5, 8.6, "(EngineCore pid=31) "),
        "PASSED",
        "kv/test_hma.py::test_fewer",
        *starts(0.5, "(EngineCore pid=77) "),
        "FAILED",
        *failure(
            "test_fewer", "(EngineCore pid=77) ERROR 06-19 12:58:00 [core.py:9] " + refused(10.93, 22.05, 0.5, 11.02)
        ),
    )
    found = diagnose(log)
    assert found.kind is OTHER
    assert found.sentence.startswith("held by EngineCore pid=31: ")


def test_an_engine_that_took_something_else_names_nobody(diagnose) -> None:
    # 4.51 of 22.05 free: 17.54 in use, and the earlier engine took 10.5.
    log = pytest_log(
        "kv/test_nixl.py::test_abort",
        *engine(0.5, 8.6),
        "PASSED",
        "kv/test_hma.py::test_fewer",
        *starts(0.47),
        "FAILED",
        *failure("test_fewer", "E   " + refused(4.51, 22.05, 0.47, 10.36)),
    )
    assert diagnose(log).kind is UNKNOWN


def test_under_workers_an_engine_as_large_may_be_any_workers(diagnose) -> None:
    log = pytest_log(
        *engine(0.5, 8.6),
        *starts(0.5),
        "[gw0] [ 50%] PASSED kv/test_nixl.py::test_abort ",
        "[gw1] [100%] FAILED kv/test_hma.py::test_fewer ",
        *failure("test_fewer", "E   " + refused(10.93, 22.05, 0.5, 11.02)),
    )
    assert diagnose(log).kind is UNKNOWN


def test_a_server_that_came_up_with_the_same_setting_a_little_later_tells_a_slow_release(diagnose) -> None:
    log = "\n".join([*starts(0.5), refused(10.93, 22.05, 0.5, 11.02), *engine(0.5, 8.6)])
    found = diagnose(log)
    assert found.kind is SLOW
    assert found.sentence == (
        "0.09 GiB were missing, and came back by itself: an engine with the same setting started later (line 4)"
    )


def test_a_number_far_below_zero_is_contention_that_looks_like_a_setting(diagnose) -> None:
    # As on an H200 on which another process grabbed 120 GiB while the engine measured.
    weights = "INFO 11-30 10:36:10 [gpu_model_runner.py:4566] Model loading took 0.05 GiB memory and 2.3 seconds"
    number = "INFO 11-30 10:36:12 [gpu_worker.py:462] Available KV cache memory: -78.4 GiB"
    refusal = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when …"
    found = diagnose("\n".join([*starts(0.3), weights, number, refusal]))
    assert found.kind is CONTENTION
    assert found.sentence.startswith("-78.40 GiB for the KV cache: an engine alone falls short by its weights, 0.05, ")


def test_memory_in_use_before_the_job_is_somebody_elses(diagnose, smi_table) -> None:
    log = (
        smi_table(used_mib=11_300, total_mib=23_034)
        + "\n"
        + pytest_log(*failure("test_fewer", "E   " + refused(10.93, 22.05, 0.5, 11.02)))
    )
    found = diagnose(log)
    assert found.kind is OTHER
    assert "11.04 GiB was in use when the job began, of 11.12 at the error" in found.sentence


def test_a_card_that_was_idle_before_the_job_excludes_others_and_names_nobody(diagnose, smi_table) -> None:
    log = (
        smi_table(used_mib=0, total_mib=23_034)
        + "\n"
        + pytest_log(*failure("test_fewer", "E   " + refused(10.93, 22.05, 0.5, 11.02)))
    )
    found = diagnose(log)
    assert found.kind is UNKNOWN
    assert "0.00 GiB was in use when the job began, so it came during the job" in found.sentence
    assert "about what this setting asks" in found.sentence


def test_an_engine_that_outlived_its_test_is_found_in_a_later_table(diagnose, smi_table) -> None:
    error = pytest_log(*failure("test_fewer", "E   " + refused(4.51, 22.05, 0.47, 10.36)))
    log = error + "\n" + smi_table(used_mib=17_900, total_mib=23_034, holders=[(3419, "VLLM::EngineCore", 17_500)])
    found = diagnose(log)
    assert found.kind is OTHER
    assert found.sentence.startswith("held by process 3419 (VLLM::EngineCore): 17.09 of the 17.54 GiB in use")
    assert found.advice.startswith("end process 3419 (VLLM::EngineCore)")


def test_printed_values_that_are_equal_are_still_a_refusal(diagnose) -> None:
    # vLLM decides on bytes: free may print as what was asked for.
    assert diagnose(refused(11.02, 22.05, 0.5, 11.02)).kind is UNKNOWN


def test_a_failure_that_is_not_of_memory_has_no_diagnosis(causes) -> None:
    [cause] = causes("OSError: [Errno 28] No space left on device\n🚨 Error: The command exited with status 1")
    assert cause.diagnosis is None


def out_of_memory(tail: str) -> str:
    return (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 22.05 "
        f"GiB of which 1.00 GiB is free. {tail}"
    )


def test_in_a_container_the_process_that_fits_torchs_account_is_the_one_that_failed(diagnose) -> None:
    # 20.10 + 0.29 GiB are torch's; process 55 holds 20.90, which is that and a context.
    tail = (
        "Process 55 has 20.90 GiB memory in use. Of the allocated memory 20.10 GiB is allocated by PyTorch, and "
        "300.00 MiB is reserved by PyTorch but unallocated."
    )
    found = diagnose(out_of_memory(tail))
    assert found.kind is SHORT
    assert found.sentence == "nobody else is to blame: this process itself holds 20.90 of the 21.05 GiB in use"


def test_a_list_that_is_cut_before_torchs_account_names_nobody(diagnose) -> None:
    found = diagnose(out_of_memory("Process 55 has 20.90 GiB memory in use."))
    assert found.kind is UNKNOWN
    assert "process 55, one of which may be the one that failed" in found.sentence


def test_an_allocation_in_a_test_after_others_may_have_met_their_leftover(diagnose) -> None:
    tail = (
        "Including non-PyTorch memory, this process has 20.90 GiB memory in use. Of the allocated memory 20.10 GiB is "
        "allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated."
    )
    failed = list(failure("test_two", "E   " + out_of_memory(tail), says="torch.OutOfMemoryError: CUDA out of me..."))
    second = diagnose(pytest_log("kv/test_a.py::test_one PASSED", *failed))
    assert second.kind is UNKNOWN
    assert "whether an earlier test left it or this one needs it, the log does not say" in second.sentence
    alone = pytest_log(*failed, ended="1 failed in 60.00s")
    assert diagnose(alone).kind is SHORT


def test_a_wrapper_tells_that_the_engine_had_a_process_of_its_own(diagnose) -> None:
    log = pytest_log(
        *failure(
            "test_two",
            "E   RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
            refused(4.51, 22.05, 0.47, 10.36),
        )
    )
    found = diagnose(log)
    assert found.kind is OTHER
    assert "the engine's own process (EngineCore) had just begun" in found.sentence


def test_weights_held_elsewhere_are_told_with_what_the_setting_allows(diagnose) -> None:
    found = diagnose(
        "ValueError: Externally held weights on device cuda:0 (40.2/79.18 GiB) exceed the desired GPU memory "
        "utilization (0.4, 31.68 GiB). Increase GPU memory utilization"
    )
    assert found.kind is SHORT
    assert found.sentence == "weights held elsewhere take 40.20 GiB, and the setting allows 31.68 in all"


def test_each_of_many_events_finds_its_own_snapshot(causes) -> None:
    # 14.05 to 18.05 GiB in use, 10.86 of them torch's, 0.82 to 4.82 short
    lines = [
        line
        for at in range(4_000)
        for line in (
            snapshot(round(4 + at / 1000, 2), 22.05, 10.86),
            refused(round(4 + at / 1000, 2), 22.05, 0.4, 8.82),
        )
    ]
    found = causes("\n".join(lines))
    assert {cause.diagnosis.kind for cause in found if cause.diagnosis} == {SAME}
