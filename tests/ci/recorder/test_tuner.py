"""What an engine gets: the least of what its test asks, what the guard set, and what fits; never more."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_guard.budget import HEADROOM, LEAST, lowered
from gpu_guard.settings import at_most, setting

GIB = 2**30

# The shape of vLLM's own, 0.6 to 0.33: one class makes every engine's configuration, another derives from it.
VLLM = {
    "vllm/__init__.py": "",
    "vllm/engine/__init__.py": "",
    "vllm/engine/arg_utils.py": """
from dataclasses import dataclass

@dataclass
class EngineArgs:
    model: str = "m"
    gpu_memory_utilization: float = 0.9

    def create_engine_config(self, usage_context=None, headless=False):
        return {"utilization": self.gpu_memory_utilization, "headless": headless}

@dataclass
class AsyncEngineArgs(EngineArgs):
    enable_log_requests: bool = False
""",
}

SUITE = """
import torch

def build(kind="EngineArgs", **arguments):
    from vllm.engine import arg_utils
    return getattr(arg_utils, kind)(**arguments).create_engine_config(headless=True)["utilization"]

def test_too_much():
    torch.strangers[1] = 15_000 * 2**20
    torch.publish()
    assert build() == 0.309
    assert build("AsyncEngineArgs", gpu_memory_utilization=0.5) == 0.309

def test_fits(): assert build(gpu_memory_utilization=0.3) == 0.3
"""


@pytest.fixture
def tuning(gpu_runner):
    gpu_runner.write(VLLM)
    gpu_runner.extra_env["PYTHONPATH"] += f":{gpu_runner.folder}"
    return gpu_runner


def test_an_engine_that_would_not_start_is_lowered_and_it_is_written_down(tuning):
    run = tuning.run(SUITE, "--gpu-guard-tune", "--junitxml=theirs.xml")
    assert run.code == 0, run.output
    free = (22_600 - 15_000) * 2**20
    assert run.of("test_too_much")[0]["tuned"] == {"from": 0.9, "to": 0.309, "free": free, "total": 22_600 * 2**20}
    assert "tuned" not in run.of("test_fits")[0]
    words = f"0.9 -> 0.309 (free {free} of {22_600 * 2**20} bytes)"
    assert run.junit["test_too_much"].find("properties/property").attrib == {"name": "gpu_guard.tuned", "value": words}
    assert f'name="gpu_guard.tuned" value="{words.replace(">", "&gt;")}"' in (tuning.folder / "theirs.xml").read_text()
    assert "got gpu_memory_utilization 0.309 instead of 0.9: 7.42 of 22.07 GiB were free" in run.output


def test_vllm_that_is_loaded_with_the_test_file_is_tuned_too(tuning):
    run = tuning.run("import vllm.engine.arg_utils\n" + SUITE, "--gpu-guard-tune")
    assert run.code == 0, run.output


def test_a_setting_of_the_guard_is_the_ceiling(tuning):
    text = SUITE.replace("0.309", "0.25").replace("== 0.3\n", "== 0.25\n")
    run = tuning.run(text, GPU_GUARD_TUNE="1", GPU_GUARD_SET_UTILIZATION="0.25")
    assert run.code == 0, run.output
    assert [line["tuned"]["to"] for line in run.attempts] == [0.25, 0.25]


def test_workers_tune_too(tuning):
    run = tuning.run(SUITE, "--gpu-guard-tune", "-n1", plugins=("xdist",))
    assert run.code == 0, run.output
    assert run.of("test_too_much")[0]["tuned"]["to"] == 0.309


def test_without_the_option_nothing_is_touched(tuning):
    text = SUITE.replace("0.309", "0.9").replace(
        "gpu_memory_utilization=0.5) == 0.9", "gpu_memory_utilization=0.5) == 0.5"
    )
    run = tuning.run(text)
    assert run.code == 0, run.output
    assert not any("tuned" in line for line in run.attempts)


def test_another_vllm_without_the_method_is_left_alone(tuning):
    tuning.write({"vllm/engine/arg_utils.py": "class EngineArgs: pass\n"})
    run = tuning.run(
        "def test_it():\n    from vllm.engine.arg_utils import EngineArgs\n    EngineArgs()\n", "--gpu-guard-tune"
    )
    assert run.code == 0, run.output


sizes = st.integers(min_value=0, max_value=300 * GIB)


@given(
    wanted=st.floats(min_value=0.001, max_value=1.0),
    total=st.integers(min_value=4 * GIB, max_value=300 * GIB),
    free=sizes,
)
def test_what_is_given_starts_and_is_never_more_than_asked(wanted, total, free):
    free = min(free, total)
    given_ = lowered(wanted, free, total)
    assert given_ <= wanted
    if given_ < wanted:
        assert given_ >= LEAST
        assert math.ceil(total * given_) <= free - HEADROOM  # vLLM's own test, once its context is there
        assert (
            math.ceil(total * (given_ + 0.002)) > free - HEADROOM or given_ + 0.002 > wanted
        )  # and no less than need be


def test_where_nothing_can_run_the_engine_says_so_itself():
    assert lowered(0.9, GIB // 2, 22 * GIB) == 0.9


@pytest.mark.parametrize("text", ["", "abc", "-1", "0", "nan", "inf"])
def test_a_setting_that_is_no_number_is_none(text):
    assert setting("UTILIZATION", {"GPU_GUARD_SET_UTILIZATION": text}) is None
    assert at_most(0.5, "UTILIZATION", {"GPU_GUARD_SET_UTILIZATION": text}) == 0.5


def test_a_setting_lowers_and_never_raises():
    environ = {"GPU_GUARD_SET_MAX_NUM_SEQS": "4"}
    assert at_most(16, "MAX_NUM_SEQS", environ) == 4
    assert at_most(1, "MAX_NUM_SEQS", environ) == 1
