"""Calls of the real `buildkite-agent`. They are telemetry: what fails is one sentence, never a failed job."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence

PROGRAM = "buildkite-agent"
LIMIT = 60.0
"""Seconds for one call; the agent itself tries again within that."""


def present(env: Mapping[str, str]) -> bool:
    """Whether this is a job of Buildkite, with an agent to call."""
    return bool(env.get("BUILDKITE_JOB_ID")) and shutil.which(PROGRAM, path=env.get("PATH")) is not None


def annotate(body: str, *, context: str, style: str) -> str:
    """Put the annotation in the place of an earlier one of this context; empty where it worked, else why not."""
    return _call(["annotate", "--context", context, "--style", style], body)


def upload(path: str) -> str:
    """Make a file an artifact of this build; empty where it worked, else why not."""
    return _call(["artifact", "upload", path])


def _call(arguments: Sequence[str], text: str = "") -> str:
    name = f"{PROGRAM} {arguments[0]}"
    try:
        done = subprocess.run(  # noqa: S603  # the agent's own program, no shell
            [PROGRAM, *arguments], input=text.encode(), timeout=LIMIT, capture_output=True, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{name} took longer than {LIMIT:.0f} s"
    except OSError as error:
        return f"{name}: {error.strerror}"
    if done.returncode == 0:
        return ""
    said = [line for line in (done.stdout + done.stderr).decode("utf-8", "replace").splitlines() if line.strip()]
    return f"{name} failed: {said[-1] if said else f'exit {done.returncode}'}"
