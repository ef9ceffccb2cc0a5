"""Calls of buildkite-agent: telemetry. What fails is one sentence in the log, never a failed job."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

PROGRAM = "buildkite-agent"
CONTEXT = "gpu-guard"

UPLOAD_LIMIT = 60.0
CALL_LIMIT = 20.0
"""Seconds: a GPU stands idle no longer for telemetry, and the agent itself tries again within that."""


def present() -> bool:
    """Whether there is an agent to call: not in a container of a pull request, not on a desk."""
    return shutil.which(PROGRAM) is not None


def upload(folder: Path, paths: Sequence[str]) -> str:
    """Upload files below `folder` under those paths; empty where it worked, else why not."""
    return _call(["artifact", "upload", ";".join(paths)], UPLOAD_LIMIT, cwd=folder)


def annotate(body: str, job: str) -> str:
    """Put a note on the job; on the build where the agent is too old to know notes of jobs (before 3.112)."""
    call = ["annotate", "--style", "warning", "--context"]
    failed = _call([*call, CONTEXT, "--scope", "job"], CALL_LIMIT, body)
    return _call([*call, f"{CONTEXT}-{job}"], CALL_LIMIT, body) if "scope" in failed else failed


def set_meta_data(key: str, value: str) -> str:
    """Keep a value for later steps of the build."""
    return _call(["meta-data", "set", key], CALL_LIMIT, value)


def _call(arguments: Sequence[str], limit: float, text: str = "", cwd: Optional[Path] = None) -> str:
    name = " ".join(itertools.takewhile(lambda word: not word.startswith("--"), arguments[:2]))
    try:
        done = subprocess.run(  # noqa: S603  # the agent's own program, no shell
            [PROGRAM, *arguments], input=text, cwd=cwd, timeout=limit, capture_output=True,
            encoding="utf-8", errors="replace", check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{PROGRAM} {name} took longer than {limit:.0f} s"
    except OSError as error:
        return f"{PROGRAM} {name}: {error.strerror}"
    if done.returncode == 0:
        return ""
    said = [line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
    usage = next((line for line in said if line.startswith("Incorrect Usage")), "")  # an option it does not know
    return f"{PROGRAM} {name} failed: {usage or (said[-1] if said else f'exit {done.returncode}')}"
