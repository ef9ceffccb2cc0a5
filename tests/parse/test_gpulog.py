"""GPU memory in the log, against what nvidia-smi said itself at the same moment, and against real engine runs."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flake_report.model.joblog import JobLog
from flake_report.model.record import EngineStart, Holder, MemorySample, SampleMoment

Read = Callable[[bytes], JobLog]
Fixture = Callable[[str], str]
GIB, MIB = 1 << 30, 1 << 20


def rows(text: str) -> list[list[str]]:
    return [[cell.strip().removesuffix(" MiB") for cell in row] for row in csv.reader(text.splitlines()[1:])]


def test_the_table_tells_what_nvidia_smi_answers_when_asked(outline: Read, log_fixture: Fixture) -> None:
    (sample,) = outline(log_fixture("nvidia_smi_h200_held.txt").encode()).memory
    ((index, _name, total, used, _free),) = rows(log_fixture("nvidia_smi_h200_held.csv"))
    apps = rows(log_fixture("nvidia_smi_h200_apps.csv"))
    assert (sample.device, sample.total, sample.used) == (index, int(total) * MIB, int(used) * MIB)
    assert sample.holders == tuple(Holder(int(pid), name, int(size) * MIB) for _uuid, pid, name, size in apps)
    assert sample.when is SampleMoment.JOB_START


def test_an_idle_card_has_no_holders(outline: Read, log_fixture: Fixture) -> None:
    (sample,) = outline(log_fixture("nvidia_smi_h200_idle.txt").encode()).memory
    assert (sample.used, sample.holders) == (0, ())


def test_a_table_behind_stamps_has_its_time_and_one_after_tests_is_told_apart(
    outline: Read, log_fixture: Fixture
) -> None:
    table = log_fixture("nvidia_smi_h200_held.txt")
    stamped = "".join(f"\x1b_bk;t=1783974785649\x07{line}\r\r\n" for line in table.splitlines())
    log = outline((stamped + "==== 1 passed in 0.01s ====\n" + table).encode())
    assert [sample.when for sample in log.memory] == [SampleMoment.JOB_START, SampleMoment.AFTER]
    assert [sample.at for sample in log.memory] == [datetime(2026, 7, 13, 20, 33, 5, 649000, UTC), None]


MIG = """\
| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |
|   0  NVIDIA H200                    On  |   00000000:5A:00.0 Off |                   On |
| N/A   41C    P0            121W /  700W |    9801MiB / 143771MiB |     N/A      Default |
|                                         |                        |              Enabled |
| MIG devices:                                                                            |
|  0    5   0   0  |            9714MiB / 16384MiB    | 26      0 |  1   0    1    0    1 |
|                  |               0MiB / 32767MiB    |           |                       |
|  0    6   0   1  |              29MiB / 33280MiB    | 60      0 |  2   0    2    0    2 |
|                  |               0MiB / 65535MiB    |           |                       |
|    0    5    0             8123      C   VLLM::EngineCore                      9685MiB |
"""


def test_slices_of_a_card_are_devices_of_their_own(outline: Read) -> None:
    card, busy, idle = outline(MIG.encode()).memory
    assert (card.device, card.used) == ("0", 9801 * MIB)
    assert (busy.device, busy.used, busy.total) == ("0/5/0", 9714 * MIB, 16384 * MIB)
    assert busy.holders == (Holder(8123, "VLLM::EngineCore", 9685 * MIB),)
    assert (idle.device, idle.total, idle.holders) == ("0/6/0", 33280 * MIB, ())


def about(size: float) -> object:
    return pytest.approx(size * GIB, abs=1)


@pytest.mark.parametrize(
    ("line", "device", "used", "total"),
    [
        ("gpu memory used/total (GiB): 0=30.31/79.1; ", "0", 30.31, 79.1),
        ("[2026-07-13T19:39:31Z] gpu memory used (GB): 0=30.31; ", "0", 30.31, None),
        ("  GPU 3: 0.5GiB/79.6GiB (0.7%)", "3", 0.5, 79.6),
    ],
)
def test_cleaners_lines_are_samples_before_a_test(
    line: str, device: str, used: float, total: float | None, outline: Read
) -> None:
    (sample,) = outline(line.encode()).memory
    assert (sample.device, sample.when) == (device, SampleMoment.BEFORE)
    assert sample.used == about(used)
    assert sample.total == (None if total is None else about(total))


def test_a_cleaner_s_line_of_two_devices_is_two_samples(outline: Read) -> None:
    assert [one.device for one in outline(b"gpu memory used (GB): 0=30.31; 1=29.41; \n").memory] == ["0", "1"]


@pytest.mark.parametrize(
    ("line", "test", "size", "held"),
    [
        ("a/b.py::T::t[x left 2 GiB] left 10.9 GiB", "a/b.py::T::t[x left 2 GiB]", 10.9 * 2**30, ""),
        ("b.py::t left 512 MiB in pid 7; it was back when the next test started", "b.py::t", 512 * 2**20, "pid 7"),
        ("\x1b_bk;t=1\x07b.py::t left 6.0 GiB in Engine.kv; the next two tests started with 6.0 GiB less", "b.py::t",
         6 * 2**30, "Engine.kv"),
        ("b.py::t left 5.1 GiB in b.K['a;b'] (4.9 GiB, 5,000×1,048,576 uint8) and others; the next test started with …",
         "b.py::t", 5.1 * 2**30, "b.K['a;b'] (4.9 GiB, 5,000×1,048,576 uint8) and others"),
        ("b.py::t left 5.1 GiB in 5000×1048576 torch.uint8 in b.KEPT[0]; it was back when the next test started",
         "b.py::t", 5.1 * 2**30, "5000×1048576 torch.uint8 in b.KEPT[0]"),
    ],
)  # fmt: skip
def test_the_recorders_summary_names_who_left_memory(
    line: str, test: str, size: float, held: str, outline: Read
) -> None:
    (leak,) = outline(line.encode() + b"\n").leaks
    assert (leak.line, leak.test, leak.size, leak.held) == (1, test, round(size), held)


def test_a_line_of_nothing_but_colons_is_no_leak_and_costs_no_hours(outline: Read) -> None:
    assert outline((b"::" * 30_000 + b" left 1.0 GiB; more\n") * 20).leaks == ()


@pytest.mark.parametrize("line", ["b.py:: left 3.0 GiB", "::t left 3.0 GiB", "he said a::b left 3.0 GiB"])
def test_only_a_node_id_left_memory(line: str, outline: Read) -> None:
    assert outline(line.encode() + b"\n").leaks == ()


@pytest.mark.parametrize("line", ["the job left 3.0 GiB in use", "b.py::t left 3.0 GiB more than it should, he said"])
def test_other_sentences_of_what_was_left_are_none(line: str, outline: Read) -> None:
    assert outline(line.encode() + b"\n").leaks == ()


def test_a_snapshot_tells_who_holds_the_memory(outline: Read) -> None:
    (sample,) = outline(
        b"[2026-04-15T18:44:57Z] init_snapshot = torch_peak=11.17GiB, free_memory=10.93GiB, total_memory=22.05GiB, "
        b"cuda_memory=11.12GiB, torch_memory=10.86GiB, non_torch_memory=0.25GiB, timestamp=1776278696.4859822, "
        b"auto_measure=True\n"
    ).memory
    assert (sample.free, sample.total, sample.used) == (about(10.93), about(22.05), about(11.12))
    assert sample.torch_reserved == about(10.86)
    assert sample.at == datetime.fromtimestamp(1776278696.4859822, UTC)


def test_out_of_memory_names_the_holders_of_other_processes(outline: Read) -> None:
    (sample,) = outline(
        b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.35 GiB. GPU 0 has a total capacity of "
        b"14.74 GiB of which 1.71 GiB is free. Process 20929 has 550.00 MiB memory in use. Process 20932 has 11.89 GiB "
        b"memory in use. Including non-PyTorch memory, this process has 836.00 MiB memory in use. Of the allocated "
        b"memory 11.62 GiB is allocated by PyTorch, and 122.71 MiB is reserved by PyTorch but unallocated.\n"
    ).memory
    assert sample.holders == (
        Holder(20929, "", 550 * MIB),
        Holder(20932, "", about(11.89)),
        Holder(0, "this process", 836 * MIB),
    )
    assert sample.device == "cuda:0"
    assert sample.free == about(1.71)
    assert sample.torch_reserved == pytest.approx(11.62 * GIB + 122.71 * MIB, abs=2)


def summary(start: EngineStart) -> tuple[object, ...]:
    kv = None if start.kv is None else round(start.kv / GIB, 2)
    free = None if start.free is None else round(start.free / GIB, 2)
    return start.utilization, start.outcome, free, kv


RUNS = {
    "freemem_mp0": [(0.3, "free memory", 28.77, None)],
    "freemem_mp1": [(0.3, "free memory", 28.77, None)],
    "pytest_freemem_mp0": [(0.3, "free memory", 28.77, None)],
    "pytest_freemem_mp1": [(0.3, "free memory", 28.77, None)],
    "pass_mp0": [(0.3, "started", None, 41.6)],
    "pass_mp1": [(0.3, "started", None, 41.6)],
    "same_mp0_none": [(0.6, "started", None, 83.54), (0.6, "free memory", 55.43, None)],
    "same_mp0_shutdown": [(0.6, "started", None, 83.54), (0.6, "started", None, 83.8)],
    "smallkv_mp0": [(0.004, "started", None, 0.22)],
    "minkv_mp0": [(0.0026, "KV cache too small", None, 0.02)],
    "nokv_mp0": [(0.001, "no cache blocks", None, -0.2)],
    "profiling_mp0": [(0.3, "profiling", 98.77, None)],
    "profiling_mp1": [(0.3, "profiling", 98.77, None)],
    "oom_kv_mp0": [(0.3, "out of memory", None, 41.6)],
    "pytest_pass_mp0": [],
    "nvml": [],
    "pidns": [],
}
"""Utilization, outcome, free and KV memory in GiB of each engine that these real runs started, read by eye."""


@pytest.mark.parametrize("name", RUNS)
def test_each_engine_start_of_a_real_run_is_told_once(name: str, corpus: Path, outline: Read) -> None:
    log = outline((corpus / "gpu-runs" / f"{name}.log").read_bytes())
    assert [summary(start) for start in log.engines] == RUNS[name]


def test_a_failed_start_under_pytest_belongs_to_its_test(corpus: Path, outline: Read) -> None:
    log = outline((corpus / "gpu-runs" / "pytest_freemem_mp0.log").read_bytes())
    (start,) = log.engines
    assert (start.session, start.test) == ("1", "pack/test_mini.py::test_prefill_blocks")
    assert (start.requested, start.total) == (about(41.94), about(139.8))
    snapshot, error = log.memory
    assert (snapshot.used, snapshot.torch_reserved) == (about(111.03), 0)
    assert {snapshot.test, error.test} == {start.test}
    assert {snapshot.when, error.when} == {SampleMoment.ERROR}


USAGE = (
    b"(EngineCore pid=4) INFO 06-19 12:59:00 [gpu_worker.py:500] Free memory on device (78.65/79.14 GiB) on startup. "
    b"Desired GPU memory utilization is (0.9, 71.22 GiB). Actual usage is 14.99 GiB for weight, 1.41 GiB for peak "
    b"activation, 0.05 GiB for non-torch memory, and 0.51 GiB for CUDAGraph memory. Replace gpu_memory_utilization "
    b"config with `--kv-cache-memory=58` ...\n"
)


def test_the_usage_line_of_a_good_start_fills_its_sizes(outline: Read) -> None:
    (start,) = outline(b"INFO 06-19 12:57:29 [utils.py:273] non-default args: {'seed': 1}\n" + USAGE).engines
    assert (start.utilization, start.requested, start.free) == (0.9, about(71.22), about(78.65))
    assert (start.weight, start.activation, start.non_torch) == (about(14.99), about(1.41), about(0.05))
    assert outline(USAGE).memory == ()


def test_two_engines_at_once_keep_their_own_lines(outline: Read) -> None:
    log = outline(
        b"(APIServer pid=1) INFO 06-19 12:57:29 [utils.py:273] non-default args: {'gpu_memory_utilization': 0.3}\n"
        b"(APIServer pid=2) INFO 06-19 12:57:29 [utils.py:273] non-default args: {'gpu_memory_utilization': 0.4}\n"
        b"(EngineCore pid=11) INFO 06-19 12:57:30 [core.py:113] Initializing a V1 LLM engine (v0.23.0) with config: x\n"
        b"(EngineCore pid=12) INFO 06-19 12:57:30 [core.py:113] Initializing a V1 LLM engine (v0.23.0) with config: x\n"
        b"(EngineCore pid=12) INFO 06-19 12:57:40 [gpu_worker.py:480] Available KV cache memory: 4 GiB\n"
        b"(EngineCore pid=11) INFO 06-19 12:57:40 [gpu_worker.py:480] Available KV cache memory: 3 GiB\n"
    )
    assert [(start.utilization, start.kv) for start in log.engines] == [(0.3, 3 * GIB), (0.4, 4 * GIB)]


def test_source_code_and_talk_are_no_samples(outline: Read) -> None:
    log = outline(
        b'                f"Free memory on device {init_snapshot.device_} "\n'
        b"Free memory on device (78.65/79.14 GiB) on startup.\n"
        b"// free memory on device\n"
        b"INFO     vllm.entrypoints.utils:utils.py:273 non-default args: {'gpu_memory_utilization': 0.3}\n"
    )
    assert (log.memory, log.engines) == ((), ())


def test_sizes_are_whole_bytes(outline: Read) -> None:
    samples: tuple[MemorySample, ...] = outline(MIG.encode()).memory
    assert all(isinstance(one.used, int) and isinstance(one.total, int) for one in samples)


@pytest.mark.parametrize(
    ("name", "process"),
    [("freemem_mp0.log", ""), ("freemem_mp1.log", "EngineCore pid=1306"), ("same_mp0_none.log", "")],
)
def test_an_engine_of_a_real_run_has_the_process_that_its_lines_name(
    name: str, process: str, corpus: Path, outline: Read
) -> None:
    log = outline((corpus / "gpu-runs" / name).read_bytes())
    assert {start.process for start in log.engines} == {process}


def test_a_servers_front_end_is_no_engines_process(outline: Read) -> None:
    (start,) = outline(
        b"(APIServer pid=1) INFO 06-19 12:57:29 [utils.py:273] non-default args: {'seed': 1}\n"
        b"(APIServer pid=1) INFO 06-19 12:57:29 [core.py:113] Initializing a V1 LLM engine (v0.23.0) with config: x\n"
        b"(EngineCore pid=12) INFO 06-19 12:57:33 [gpu_worker.py:480] Available KV cache memory: 4.0 GiB\n"
    ).engines
    assert (start.process, start.line) == ("EngineCore pid=12", 1)


def test_a_sample_stands_on_the_line_that_told_it(corpus: Path, outline: Read) -> None:
    log = outline((corpus / "gpu-runs" / "pytest_freemem_mp0.log").read_bytes())
    assert [sample.line for sample in log.memory if sample.torch_reserved is not None] == [51]
