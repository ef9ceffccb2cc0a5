"""A card that is not free, made so on purpose: what vLLM says then, and what the guard, the tuner and the recorder do.

Each engine starts in a session of its own, under the recorder, as in a job. GPU_TESTS_KEEP=DIR keeps logs and files.
"""

from __future__ import annotations

import json

import pytest

from gpu_guard.budget import GIB, Card
from gpu_guard.profiles import pick
from rig.cards import cards
from rig.holder import CONTEXT, Holder
from rig.sessions import Sessions, guard, job_id

ASKED = pick("nixl-hma", None).ceiling
LOADING = "Starting to load model"
"""vLLM logs this between its first look at free memory and the second."""


def fill(holder: Holder, share: float) -> None:
    """Leave so much of the card free."""
    (card, *_) = cards()
    holder.hold((card.free - share * card.total) / GIB)


@pytest.mark.parametrize("processes", ["0", "1"])
def test_as_it_is_the_engine_does_not_start(processes: str, card: Card, holder: Holder, sessions: Sessions) -> None:
    fill(holder, ASKED - 0.1)
    run = sessions.run(f"full-card-mp{processes}", "one_engine", VLLM_ENABLE_V1_MULTIPROCESSING=processes)
    assert run.code == 1
    assert "Free memory on device cuda:0 (" in run.output
    assert f"is less than desired GPU memory utilization ({ASKED}, " in run.output
    attempt = run.attempts["test_starts_and_answers"]
    assert attempt["outcome"] == "failed"
    held = {one["pid"]: one["bytes"] for one in attempt["holders"]}
    assert held[holder.pid] == pytest.approx(card.free - (ASKED - 0.1) * card.total, rel=0.05)


def test_with_the_tuner_it_is_lowered_and_starts(card: Card, holder: Holder, sessions: Sessions) -> None:
    fill(holder, ASKED - 0.1)
    run = sessions.run("full-card-tuned", "one_engine", GPU_GUARD_TUNE="1", VLLM_ENABLE_V1_MULTIPROCESSING="0")
    assert run.code == 0
    tuned = run.attempts["test_starts_and_answers"]["tuned"]
    assert tuned["from"] == ASKED
    assert ASKED - 0.12 < tuned["to"] < ASKED - 0.1 + 0.001
    assert tuned["to"] * card.total <= tuned["free"]


def test_the_guard_refuses_with_the_holder_named(card: Card, holder: Holder) -> None:
    fill(holder, ASKED - 0.1)
    asked = guard("check", "--utilization", str(ASKED))
    assert asked.returncode == 75
    assert f"pid {holder.pid} " in asked.stderr
    lowered = guard("check", "--profile", "nixl-hma")
    assert lowered.returncode == 0
    settings = dict(line.removeprefix("export ").split("=", 1) for line in lowered.stdout.splitlines())
    assert ASKED - 0.12 < float(settings["GPU_GUARD_SET_UTILIZATION"]) < ASKED - 0.1
    assert settings["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    holder.free()
    free = guard("check", "--utilization", str(ASKED))
    assert free.returncode == 0
    assert cards()[0].total == card.total


def test_a_leak_before_it_in_the_same_process_is_named(card: Card, sessions: Sessions) -> None:
    run = sessions.run("after-a-leak", "after_a_leak", VLLM_ENABLE_V1_MULTIPROCESSING="0")
    assert run.code == 1
    assert "Free memory on device cuda:0 (" in run.output
    leak = run.attempts["test_keeps_its_cache"]["leak"]
    assert leak["bytes"] == pytest.approx(card.free - (ASKED - 0.1) * card.total - GIB, rel=0.05)
    assert leak["tensors"][0]["referrer"].endswith("KEPT['cache']")
    assert run.attempts["test_starts_and_answers"]["outcome"] == "failed"
    assert "leak" not in run.attempts["test_starts_and_answers"]
    assert "test_keeps_its_cache left " in run.output


def test_memory_freed_while_the_engine_measures(card: Card, holder: Holder, sessions: Sessions) -> None:
    holder.hold(0.2 * card.total / GIB)
    run = sessions.run(
        "freed-while-measuring", "one_engine", "-s",
        on_lines={LOADING: holder.free}, VLLM_ENABLE_V1_MULTIPROCESSING="0",
    )  # fmt: skip
    assert run.code == 1
    assert "AssertionError: Error in memory profiling. Initial free memory" in run.output


def test_memory_taken_while_the_engine_measures(card: Card, holder: Holder, sessions: Sessions) -> None:
    taken = 0.85 * card.total / GIB
    run = sessions.run(
        "taken-while-measuring", "one_engine", "-s",
        on_lines={LOADING: lambda: holder.hold(taken)}, VLLM_ENABLE_V1_MULTIPROCESSING="0",
    )  # fmt: skip
    assert run.code == 1
    assert "Available KV cache memory: -" in run.output
    assert "ValueError: No available memory for the cache blocks." in run.output


def test_an_orphaned_engine_is_found_and_ended_only_when_that_is_allowed(card: Card, sessions: Sessions) -> None:
    run = sessions.run(
        "orphaned-engine", "held_open", "-s",
        on_lines={"the engine is up": sessions.kill}, VLLM_ENABLE_V1_MULTIPROCESSING="1",
    )  # fmt: skip
    assert run.code == -9
    asked = ("check", "--utilization", "0.9")
    refused = guard(*asked)
    assert refused.returncode == 75
    assert "VLLM::EngineCor" in refused.stderr
    assert cards()[0].free < card.free - (ASKED - 0.05) * card.total
    other = guard(*asked, "--clean-own-leftovers", BUILDKITE_AGENT_ID="00000000-0000-4000-8000-0000000000bb")
    assert other.returncode == 75
    cleaned = guard(*asked, "--clean-own-leftovers", "--wait", "20")
    assert cleaned.returncode == 0
    assert job_id("orphaned-engine") in cleaned.stderr
    assert cards()[0].free > card.free - 2 * CONTEXT * GIB


def test_what_the_probe_reads_is_what_torch_reads(card: Card, holder: Holder) -> None:
    import torch

    holder.hold(3)
    probed = json.loads(guard("probe", "--json").stdout)["devices"][0]
    free, total = torch.cuda.mem_get_info()
    assert probed["total"] == total == card.total
    assert probed["free"] - free == pytest.approx(CONTEXT * GIB, abs=0.2 * GIB)  # torch's own context came since
    assert {one["pid"] for one in probed["holders"]} >= {holder.pid}
