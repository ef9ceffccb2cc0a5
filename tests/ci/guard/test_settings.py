"""What an engine gets: the least of what its test asks, what the job's settings say, and what fits."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_guard.budget import CONTEXT, GIB, Card, fits, highest
from gpu_guard.profiles import ProfileError, pick
from gpu_guard.settings import chosen_arguments, environment, exported

HMA = {
    "max_num_seqs": 1, "max_num_batched_tokens": 2048, "block_size": 16, "max_model_len": 2048, "enforce_eager": True,
    "enable_prefix_caching": False,
}  # fmt: skip
UTILIZATION = "gpu_memory_utilization"


def chosen(environ=None, cards=(), name="nixl-hma", **wanted):
    return chosen_arguments(name, wanted, environ or {}, cards)


def test_without_a_guard_the_profile_itself_is_the_setting():
    assert chosen() == {**HMA, UTILIZATION: 0.3}


def test_limits_lower_what_a_test_asks_and_never_raise_it():
    got = chosen(max_num_seqs=16, max_model_len=1024, gpu_memory_utilization=0.5)
    assert (got["max_num_seqs"], got["max_model_len"], got[UTILIZATION]) == (1, 1024, 0.3)
    assert chosen(gpu_memory_utilization=0.2)[UTILIZATION] == 0.2


@pytest.mark.parametrize("wanted", [None, -1, "auto"])
def test_a_test_that_leaves_a_limit_to_vllm_gets_the_settings(wanted):
    assert chosen(max_model_len=wanted)["max_model_len"] == 2048


def test_a_choice_is_the_tests_own_where_it_makes_one():
    got = chosen(enforce_eager=False, block_size=32, seed=7, model="m")
    assert (got["enforce_eager"], got["block_size"], got["seed"], got["model"]) == (False, 32, 7, "m")


def test_what_the_guard_exported_says_the_same_again():
    for utilization in (0.3, 0.205):
        environ = exported(pick("nixl-hma"), utilization)
        assert chosen(environ) == {**HMA, UTILIZATION: utilization}


def test_the_pipeline_may_give_its_own_job_more_than_the_profile():
    assert chosen(exported(pick("nixl-hma"), 0.5), gpu_memory_utilization=0.4)[UTILIZATION] == 0.4
    assert chosen(exported(None, 0.5))[UTILIZATION] == 0.5


def test_to_another_profile_than_the_jobs_its_settings_are_limits_and_no_choices():
    environ = {
        "GPU_GUARD_PROFILE": "another", "GPU_GUARD_SET_UTILIZATION": "0.9", "GPU_GUARD_SET_BLOCK_SIZE": "64",
        "GPU_GUARD_SET_MAX_MODEL_LEN": "512", "GPU_GUARD_SET_MAX_LORAS": "2",
    }  # fmt: skip
    assert chosen(environ) == {**HMA, UTILIZATION: 0.3, "max_model_len": 512}
    assert chosen(environ, max_loras=4)["max_loras"] == 2
    assert chosen({**environ, "GPU_GUARD_SET_UTILIZATION": "0.1"})[UTILIZATION] == 0.1


def test_what_is_free_now_lowers_further_but_not_below_what_the_test_needs():
    free = round(17 * GIB)
    card = Card("cuda:0", round(6 * GIB), 22 * GIB)
    assert chosen(cards=[card])[UTILIZATION] == highest(card.free, card.total)
    assert chosen(cards=[card._replace(free=free)])[UTILIZATION] == 0.3
    # 3.5 GiB are needed: with 2 free the engine shall fail with its own words, and the guard has said why.
    assert chosen(cards=[card._replace(free=2 * GIB)])[UTILIZATION] == 0.3


parts = st.floats(min_value=0, max_value=1)


@given(
    total=st.integers(min_value=16 * GIB, max_value=200 * GIB),
    part=parts,
    wanted=st.floats(0.01, 1),
    job=st.floats(0.01, 1),
)
def test_an_engine_never_gets_more_than_any_of_the_three(total, part, wanted, job):
    card = Card("cuda:0", int(total * part), total)
    got = chosen(exported(pick("nixl-hma"), job), [card], gpu_memory_utilization=wanted)[UTILIZATION]
    assert got <= min(wanted, job)
    if got < min(wanted, job):
        assert fits(card.free, card.total, got)
        assert got * total >= 3.5 * GIB - 1


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("false", False), ("3", 3), ("0.5", 0.5), ("half", "half"), ("null", "null"), ("[1]", "[1]")],
)
def test_settings_come_back_as_python_has_them(text, value):
    got = chosen({"GPU_GUARD_SET_BLOCK_SIZE": text})["block_size"]
    assert got == value
    assert type(got) is type(value)


def test_a_limit_that_is_no_number_limits_nothing():
    assert chosen({"GPU_GUARD_SET_MAX_NUM_SEQS": "many"})["max_num_seqs"] == 1


def test_the_environment_of_a_profile_is_told():
    assert environment("nixl-hma") == {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}


def test_an_unknown_profile_is_no_profile():
    with pytest.raises(ProfileError, match="no profile is named 'nixl'"):
        chosen(name="nixl")


def test_a_container_that_does_not_see_the_users_table_goes_by_the_settings(tmp_path):
    environ = {
        "GPU_GUARD_PROFILE": "mine", "GPU_GUARD_PROFILES": str(tmp_path / "absent.json"),
        "GPU_GUARD_SET_UTILIZATION": "0.4", "GPU_GUARD_SET_MAX_NUM_SEQS": "2",
    }  # fmt: skip
    assert chosen(environ, name="mine") == {UTILIZATION: 0.4, "max_num_seqs": 2}


def test_a_table_that_is_there_is_read(tmp_path):
    file = tmp_path / "mine.json"
    row = {"mine": {"ceiling": 0.4, "engine": {"max_num_seqs": 3}}}
    file.write_text(json.dumps({"schema": "gpu-guard-profiles/1", "profiles": row}))
    assert chosen({"GPU_GUARD_PROFILES": str(file)}, name="mine") == {UTILIZATION: 0.4, "max_num_seqs": 3}


ONE_CALL = """
import json
from gpu_guard.settings import engine_arguments
print(json.dumps(engine_arguments("nixl-hma", seed=1)))
"""


def test_in_one_call_on_a_real_process(machine):
    machine.fill(f"unlisted {17 * GIB}")
    program = (
        "import json; from gpu_guard.settings import engine_arguments as e; print(json.dumps(e('nixl-hma', seed=1)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=machine.environment, capture_output=True, text=True, check=True
    )
    got = json.loads(done.stdout)
    assert got == {**HMA, "seed": 1, UTILIZATION: 0.2}
    assert 0.2 * 22 * GIB + CONTEXT <= 5 * GIB
