"""Jobs whose command runs in a container: what gets in, what is recorded there, and what the log says where nothing is.

The hook of the docker plugin is re-created from its sources (docker/hooks/command), and `docker` is a stub that runs
the command in the environment that its words describe; the agent and the guard's hooks are the real ones.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from ci.plugin.conftest import guard

HERE = Path(__file__).parent
TEST = f"{sys.executable} -m pytest -q -p no:cacheprovider test_a.py"
IMAGE = "public.example/vllm-ci:sha"
NAMES = ["PYTHONPATH", "GPU_GUARD_RECORD", "GPU_GUARD_SET_UTILIZATION", "BUILDKITE_JOB_ID"]


@pytest.fixture
def docker(agent, tmp_path):
    """Jobs with the docker plugin of a release beside the guard; returns the job and the words of each docker call."""
    said = tmp_path / "words"
    shutil.copytree(HERE / "docker" / "hooks", agent.repository / "docker" / "docker-buildkite-plugin" / "hooks")
    agent.commit({"test_a.py": "def test_a(): pass\n"})
    agent.program("docker", (HERE / "docker" / "docker").read_text())
    agent.environment |= {"DOCKER_WORDS": str(said)}

    def run(release: str, options: dict, command: str = TEST, guarded: dict | None = None, **more: str):
        said.unlink(missing_ok=True)
        plugins = [*guard(**(guarded or {"profile": "nixl-hma"})), {"./docker/docker-buildkite-plugin": options}]
        job = agent.run(command, plugins, RELEASE=release, BUILDKITE_PLUGIN_VALIDATION="false", **more)
        return job, [json.loads(line) for line in said.read_text().splitlines()]

    return run


def recorded(agent) -> dict:
    """The header of the attempts file that was uploaded."""
    (name,) = [name for name in agent.api.told.artifacts if name.endswith(".jsonl")]
    return json.loads(agent.api.told.artifacts[name].splitlines()[0])


def test_release_5_2_0_with_names_in_environment_says_these_words_to_docker(agent, docker) -> None:
    options = {
        "image": IMAGE, "always-pull": True, "propagate-environment": True, "gpus": "all",
        "environment": ["HF_TOKEN", *NAMES], "volumes": ["/mnt/cache:/mnt/cache"],
    }  # fmt: skip
    job, words = docker("5.2.0", options, "echo tests", BUILDKITE_ENV_FILE=str(env_file(agent)))
    assert job.code == 0, job.log
    in_file = [
        "GPU_GUARD_PROFILE", "GPU_GUARD_SET_MAX_NUM_SEQS", "GPU_GUARD_SET_MAX_NUM_BATCHED_TOKENS",
        "GPU_GUARD_SET_BLOCK_SIZE", "GPU_GUARD_SET_MAX_MODEL_LEN", "GPU_GUARD_SET_ENFORCE_EAGER",
        "GPU_GUARD_SET_ENABLE_PREFIX_CACHING", "VLLM_ENABLE_V1_MULTIPROCESSING", "GPU_GUARD_SET_UTILIZATION",
        "GPU_GUARD_RECORD",
    ]  # fmt: skip
    assert words == [
        ["pull", IMAGE],
        [
            "run", "-t", "-i", "--rm", "--init", "--volume", f"{agent.checkout}:/workdir",
            "--volume", "/mnt/cache:/mnt/cache", "--workdir", "/workdir",
            *[word for name in ["HF_TOKEN", *NAMES, "BUILDKITE_LABEL", *in_file] for word in ("--env", name)],
            "--gpus", "all", "--label", "com.buildkite.job-id=0a-job", IMAGE, "/bin/sh", "-e", "-c", "echo tests",
        ],
    ]  # fmt: skip


def test_release_5_13_0_with_the_list_of_names_says_these_words_to_docker(agent, docker) -> None:
    options = {"image": IMAGE, "gpus": "all", "env-propagation-list": "GPU_GUARD_ENV"}
    job, words = docker("5.13.0", options, "echo tests", {"utilization": 0.5}, BUILDKITE_CANCEL_GRACE_PERIOD="30")
    assert job.code == 0, job.log
    (run,) = words
    names = {run[place + 1] for place, word in enumerate(run) if word == "--env"}
    assert {"GPU_GUARD_SET_UTILIZATION", "GPU_GUARD_RECORD", "PYTHONPATH", "BUILDKITE_JOB_ID"} <= names
    assert not any("TOKEN" in name for name in names)
    assert [word for word in run if word not in names and word != "--env"] == [
        "run", "-t", "-i", "--rm", "--init", "--stop-timeout", "30", "--volume", f"{agent.checkout}:/workdir",
        "--workdir", "/workdir", "--gpus", "all", "--label", "com.buildkite.job-id=0a-job", IMAGE,
        "/bin/sh", "-e", "-c", "echo tests",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("release", "way"),
    [("5.2.0", {"environment": NAMES}), ("5.13.0", {"env-propagation-list": "GPU_GUARD_ENV"})],
    ids=["names under environment", "the list of names"],
)
def test_tests_in_a_container_are_recorded_and_uploaded_by_the_agent_outside(
    agent, docker, tmp_path, release, way
) -> None:
    job, _ = docker(release, {"image": IMAGE, "workdir": str(tmp_path / "inside"), **way})
    assert job.code == 0, job.log
    assert recorded(agent)["job"] == "0a-job"
    assert recorded(agent)["env"]["GPU_GUARD_SET_UTILIZATION"] == "0.3"


def test_a_container_that_is_handed_nothing_runs_its_tests_unrecorded_and_the_log_says_so(
    agent, docker, tmp_path
) -> None:
    job, _ = docker("5.2.0", {"image": IMAGE, "workdir": str(tmp_path / "inside")})
    assert job.code == 0, job.log
    assert "the docker plugin does not hand GPU_GUARD_PROFILE, GPU_GUARD_RECORD" in job.log
    assert "gpu-guard: no test session was recorded" in job.log
    assert agent.api.told.artifacts == {}


def test_an_image_with_a_path_of_its_own_keeps_it_behind_the_file_of_variables(agent, docker, tmp_path) -> None:
    inside = tmp_path / "inside"
    own = tmp_path / "image"
    own.mkdir()
    (own / "of_the_image.py").write_text("")
    agent.environment |= {"IMAGE_ENV": json.dumps({"PYTHONPATH": str(own)})}
    file = f"{inside}/.gpu-guard/env"
    command = f"[ ! -f {file} ] || . {file}; {sys.executable} -c 'import of_the_image'; {TEST}"
    job, _ = docker("5.2.0", {"image": IMAGE, "workdir": str(inside), "environment": ["BUILDKITE_JOB_ID"]}, command)
    assert job.code == 0, job.log
    assert "does not hand" not in job.log
    assert recorded(agent)["env"]["GPU_GUARD_SET_UTILIZATION"] == "0.3"


def test_a_container_without_the_checkout_runs_its_tests_unrecorded_and_the_log_says_so(docker) -> None:
    job, _ = docker("5.13.0", {"image": IMAGE, "mount-checkout": False}, "echo in the container")
    assert job.code == 0, job.log
    assert "nothing says where the docker plugin's container sees the checkout" in job.log


def test_a_pod_whose_command_runs_beside_the_agent_finds_everything_in_the_checkout(agent) -> None:
    """The command's container shares the checkout, at the same path, and has none of the variables of the hooks."""
    agent.commit({"test_a.py": "def test_a(): pass\n"})
    pod = "env -i PATH=$PATH sh -e -c '[ ! -f .gpu-guard/env ] || . .gpu-guard/env; " + TEST + "'"
    job = agent.run(pod, guard(profile="nixl-hma"))
    assert job.code == 0, job.log
    assert recorded(agent)["env"]["GPU_GUARD_SET_UTILIZATION"] == "0.3"


def env_file(agent) -> Path:
    """BUILDKITE_ENV_FILE as the agent writes it before the first hook."""
    path = agent.folder / "job-env"
    path.write_text('BUILDKITE_LABEL="a step"\n')
    return path
