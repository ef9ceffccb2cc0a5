"""Real logs with answers that others gave: labelled logs, runs on a real GPU, the families of the same message."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from flake_report.classify.scan import Scan
from flake_report.classify.verdict import causes
from flake_report.model.failure import Cause
from flake_report.parse.joblog import Outline, blocks, clean

# Where our first cause is on another line than the label, and why ours is kept.
MISSES = {
    "logs/pytorch-test_file_failed_wrapper.txt": (
        13,
        "the label names the wrapper of a test file that failed; the AttributeError that broke it stands above",
    ),
    "logs/gotest-go-test-missing-run-events.out": (
        62,
        "the label names the last of several runs of the same tests; ours is the first failure in them",
    ),
}


@pytest.fixture(scope="session")
def explain(table) -> Callable[[Path], tuple[Cause, ...]]:
    def run(path: Path) -> tuple[Cause, ...]:
        outline, scan = Outline(), Scan(table, clean)
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for block in blocks(iter(lambda: file.read(1 << 18), b"")):
                outline.feed(block)
                scan.feed(block)
        return causes(scan.matches(), outline.result())

    return run


@pytest.fixture(scope="session")
def labelled(corpus) -> dict[str, list[int]]:
    """The named lines of each labelled log; none where nothing failed."""
    truth = json.loads((corpus / "log_truth.json").read_text(encoding="utf-8"))
    return {name: [cause["line"] for cause in label["cause"]] for name, label in truth.items() if "cause" in label}


def test_the_first_cause_is_on_a_named_line_in_nineteen_logs_of_twenty(corpus, labelled, explain):
    missed = {}
    named = {name: lines for name, lines in labelled.items() if lines}
    for name, lines in named.items():
        found = explain(corpus / name)
        if not found or found[0].line not in lines:
            missed[name] = found[0].line if found else None
    assert missed == {name: line for name, (line, _reason) in MISSES.items()}
    assert len(missed) <= 0.05 * len(named)


def test_no_cause_is_invented_where_none_is_named(corpus, labelled, explain):
    silent = [name for name, lines in labelled.items() if not lines]
    assert len(silent) >= 9
    assert {name: explain(corpus / name) for name in silent} == dict.fromkeys(silent, ())


def test_a_wrapper_is_named_as_one_where_the_cause_was_cut_off(corpus, explain):
    found = explain(corpus / "logs/vllm-buildkite-raw_log_snippet.bin")
    assert [(found[0].line, found[0].wrapper)] == [(4, True)]


FREE = {"device": "cuda:0", "free_gib": 28.77, "total_gib": 139.8, "utilization": 0.3, "requested_gib": 41.94}
TEST = "pack/test_mini.py::test_prefill_blocks"
RUNS = {
    "freemem_mp0": ("free-memory-at-start", 1, None, FREE),
    "freemem_mp1": ("free-memory-at-start", 2, None, FREE),
    "pytest_freemem_mp0": ("free-memory-at-start", 1, TEST, FREE),
    "pytest_freemem_mp1": ("free-memory-at-start", 2, TEST, FREE),
    "profiling_mp0": ("memory-profiling", 1, None, {"initial_gib": 98.77, "current_gib": 138.47}),
    "profiling_mp1": ("memory-profiling", 2, None, {"initial_gib": 98.77, "current_gib": 138.47}),
    "nokv_mp0": ("no-kv-cache-memory", 1, None, {}),
    "minkv_mp0": ("kv-cache-too-small", 1, None, {"max_seq_len": 2048, "needed_gib": 0.06, "available_gib": 0.02}),
    "oom_kv_mp0": (
        "torch-out-of-memory",
        1,
        None,
        {
            "requested_gib": 10.4,
            "device": "0",
            "total_gib": 139.8,
            "free_gib": 9.46,
            "holders": "2627: 129.51 GiB; this process: 0.8164 GiB",
        },
    ),
    "nvml": (
        "torch-out-of-memory",
        1,
        None,
        {"requested_gib": 20.0, "holders": "this process: 0.5059 GiB; 706: 130.51 GiB"},
    ),
    "same_mp0_none": ("free-memory-at-start", 1, None, {"free_gib": 55.43, "requested_gib": 83.88, "utilization": 0.6}),
}
GOOD = [
    "pass_mp0",
    "pass_mp1",
    "pytest_pass_mp0",
    "smallkv_mp0",
    "same_mp0_shutdown",
    "pidns",
    "orphan_mp0_SIGTERM",
    "orphan_mp1_SIGTERM",
]


@pytest.mark.parametrize("run", RUNS)
def test_a_failed_run_on_a_real_gpu_gives_its_cause_and_its_numbers(corpus, explain, run):
    signature, count, test, captures = RUNS[run]
    found = explain(corpus / f"gpu-runs/{run}.log")
    assert [(cause.signature, cause.count, cause.test) for cause in found] == [(signature, count, test)]
    assert found[0].captures.items() >= captures.items()


@pytest.mark.parametrize("run", GOOD)
def test_a_good_run_on_a_real_gpu_gives_no_cause(corpus, explain, run):
    assert explain(corpus / f"gpu-runs/{run}.log") == ()


def test_every_run_on_a_real_gpu_is_told(corpus):
    assert {path.stem for path in (corpus / "gpu-runs").glob("*.log")} == {*RUNS, *GOOD}
