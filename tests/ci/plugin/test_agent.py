"""The whole agent, from acquiring a job to telling Buildkite how it finished: what a server sees of a guarded job."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ci.plugin.agent_api import ACCESS
from ci.plugin.conftest import AGENT, guard

HERE = Path(__file__).parent
HMA = guard(profile="nixl-hma")


@pytest.fixture
def finished(agent, tmp_path):
    """Let the agent acquire one job; what it told of its end, and the job's log.

    `state` is what the job is told once it has made the file `sign`: canceling, or timing_out.
    """

    def run(command: str, plugins, *, state: str = "", sign: Path | None = None, **more: str) -> tuple[dict, str]:
        variables = agent.variables(command, plugins, **more)
        agents = (
            "BUILDKITE_AGENT_ACCESS_TOKEN",
            "BUILDKITE_AGENT_ENDPOINT",
            "BUILDKITE_BIN_PATH",
            "BUILDKITE_BUILD_PATH",
        )
        own = {name: text for name, text in variables.items() if not name.startswith("BUILDKITE_") or name in agents}
        # What Buildkite hands over with a job; the rest stands in the agent's configuration.
        agent.api.offered = {name: variables[name] for name in variables if name.startswith("BUILDKITE_")} | more
        agent.api.offered = {name: text for name, text in agent.api.offered.items() if name not in agents}
        config = {
            "BUILDKITE_AGENT_TOKEN": ACCESS, "BUILDKITE_BUILD_PATH": str(agent.folder / "builds"),
            "BUILDKITE_PLUGINS_PATH": str(agent.folder / "plugins"), "BUILDKITE_CANCEL_GRACE_PERIOD": "20",
            "BUILDKITE_SIGNAL_GRACE_PERIOD_SECONDS": "10",
        }  # fmt: skip
        del own["BUILDKITE_AGENT_ACCESS_TOKEN"]
        (agent.folder / "tmp").mkdir(exist_ok=True)
        (tmp_path / "agent.cfg").write_text("")
        agent.api.state = "running"
        watcher = threading.Thread(target=_tell, args=(agent.api, state, sign))
        watcher.start()
        done = subprocess.run(
            [AGENT, "start", "--acquire-job", "0a-job", "--config", tmp_path / "agent.cfg", "--no-pty"],
            cwd=agent.folder, env={**own, **config}, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
            check=False,
        )  # fmt: skip
        watcher.join()
        assert agent.api.told.finished, done.stderr
        return agent.api.told.finished, agent.api.told.log.decode()

    return run


def _tell(api, state: str, sign: Path | None) -> None:
    deadline = time.monotonic() + 60
    while sign is not None and not sign.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    api.state = state or "running"


@pytest.mark.parametrize("status", [0, 3, 75])
def test_buildkite_is_told_the_commands_own_exit_status(finished, status: int) -> None:
    end, log = finished(f"exit {status}", HMA)
    assert end["exit_status"] == str(status), log
    assert end.get("signal_reason", "") == ""
    assert "22.00 GiB free before the job" in log


def test_buildkite_is_told_75_where_memory_is_short(agent, finished) -> None:
    agent.driver.fill(20)
    end, log = finished("true", guard(utilization=0.47, wait=0))
    assert end["exit_status"] == "75", log


@pytest.mark.parametrize("state", ["canceling", "timing_out"])
def test_a_job_that_is_stopped_is_told_as_it_would_be_without_the_guard(agent, finished, tmp_path, state: str) -> None:
    sign = tmp_path / "started"
    command = f"touch {sign}; exec sleep 60"
    bare, _ = finished(command, [], state=state, sign=sign)
    sign.unlink()
    agent.api.told.log = b""
    guarded, log = finished(command, HMA, state=state, sign=sign)
    for name in ("exit_status", "signal", "signal_reason"):
        assert guarded.get(name) == bare.get(name), log
    assert "22.00 GiB free before the job" in log


def test_the_agents_own_list_of_variables_lets_the_guards_into_a_container(agent, finished, tmp_path) -> None:
    shutil.copytree(HERE / "docker" / "hooks", agent.repository / "docker" / "docker-buildkite-plugin" / "hooks")
    agent.commit({"test_a.py": "def test_a(): pass\n"})
    agent.program("docker", (HERE / "docker" / "docker").read_text())
    inside = tmp_path / "inside"
    options = {"image": "x", "propagate-environment": True, "environment": ["PYTHONPATH"], "workdir": str(inside)}
    end, log = finished(
        f"{sys.executable} -m pytest -q test_a.py", [*HMA, {"./docker/docker-buildkite-plugin": options}],
        RELEASE="5.2.0", DOCKER_WORDS=str(tmp_path / "words"), BUILDKITE_PLUGIN_VALIDATION="false",
    )  # fmt: skip
    assert end["exit_status"] == "0", log
    assert "does not hand" not in log
    (name,) = [name for name in agent.api.told.artifacts if name.endswith(".jsonl")]
    header = json.loads(agent.api.told.artifacts[name].splitlines()[0])
    assert header["env"]["GPU_GUARD_SET_UTILIZATION"] == "0.3"
    assert re.search(r"--env\W+GPU_GUARD_RECORD", (tmp_path / "words").read_text().replace('", "', " "))
