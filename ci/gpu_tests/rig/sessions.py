"""Pytest sessions of their own, under the recorder, as a Buildkite job runs them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
PLUGIN = HERE.parent / "gpu-guard-buildkite-plugin"
LIMIT = 240.0
"""Seconds for a session: an engine starts in half a minute, the first on a machine in a whole one."""
AGENT = "00000000-0000-4000-8000-0000000000aa"
_FOREIGN = ("GPU_GUARD_", "PYTEST_", "BUILDKITE", "COV_")
_JOBS = uuid.UUID("6f1ce1f4-7a5b-4f0e-8f0b-5d1b9c1c2a57")

OnLine = Callable[[], None]


def job_id(name: str) -> str:
    """The id of the job of this name: the same in every run."""
    return str(uuid.uuid5(_JOBS, name))


def environment(job: str, **more: str) -> dict[str, str]:
    """What a job's command finds: nothing of the session that this one is in."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(_FOREIGN)}
    path = os.pathsep.join([str(PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {
        **own, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "BUILDKITE_JOB_ID": job, "BUILDKITE_AGENT_ID": AGENT, **more
    }  # fmt: skip


@dataclass(frozen=True)
class Session:
    """A session that ended: `folder` holds its log, attempts file and JUnit file."""

    code: int
    folder: Path

    @cached_property
    def output(self) -> str:
        return (self.folder / "job.log").read_text(encoding="utf-8", errors="replace")

    @cached_property
    def attempts(self) -> dict[str, dict[str, Any]]:
        """The last attempt of each test, by the test's own name."""
        (file,) = self.folder.glob("attempts-*.jsonl")
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        return {line["nodeid"].rpartition("::")[2]: line for line in lines if "nodeid" in line}


class Sessions:
    """Runs the modules in `scenarios/`; what they leave is kept below `folder`, a folder a job."""

    def __init__(self, folder: Path, model: str | None) -> None:
        self._folder = folder
        self._model = ["--hma-model", model] if model else []
        self._running: list[subprocess.Popen[bytes]] = []

    def run(
        self,
        name: str,
        scenario: str,
        *arguments: str,
        on_lines: Mapping[str, OnLine] | None = None,
        **variables: str,
    ) -> Session:
        """One session as the job `name`. When a text of `on_lines` comes in its output, what stands there is done."""
        folder = self._folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        process = self._start(name, folder, scenario, arguments, variables)
        timer = threading.Timer(LIMIT, _end_group, [process])
        timer.start()
        waiting = dict(on_lines or {})
        assert process.stdout is not None
        with (folder / "job.log").open("wb") as log:
            for line in process.stdout:
                log.write(line)
                log.flush()
                for text in [text for text in waiting if text.encode() in line]:
                    waiting.pop(text)()
                if process.poll() is not None:  # killed just now: what it started may hold the pipe open for ever
                    break
        code = process.wait()
        timer.cancel()
        assert not waiting, f"never said: {', '.join(waiting)}; see {folder / 'job.log'}"
        return Session(code, folder)

    def kill(self) -> None:
        """Kill the process of the running session, and nothing that it started."""
        self._running[-1].kill()
        self._running[-1].wait()

    def end(self) -> None:
        """No session outlives its test."""
        for process in self._running:
            _end_group(process)
            process.wait()

    def _start(
        self, name: str, folder: Path, scenario: str, arguments: tuple[str, ...], variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        command = [
            sys.executable, "-m", "pytest", "-c", str(HERE / "pytest.ini"), "--rootdir", str(HERE),
            "-p", "no:cacheprovider", "-v", *self._model, *arguments, f"scenarios/{scenario}.py",
        ]  # fmt: skip
        told = environment(
            job_id(name), GPU_GUARD_RECORD=str(folder), PYTEST_PLUGINS="gpu_guard.recorder", GPU_TESTS="require"
        )
        process = subprocess.Popen(
            command,
            cwd=HERE,
            env={**told, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._running.append(process)
        return process


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """The session with all that it started: an orphan keeps its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def guard(*arguments: str, job: str = "the next job", **variables: str) -> subprocess.CompletedProcess[str]:
    """The guard's command, as the plugin's hook runs it; in a terminal it is `python3 -m gpu_guard`."""
    return subprocess.run(
        [sys.executable, "-m", "gpu_guard", *arguments],
        env=environment(job_id(job), **variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
