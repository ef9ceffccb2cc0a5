"""Docker containers that a finished job of this agent left running, by the labels that the docker plugin sets."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from typing import NamedTuple, Optional

LABEL = "com.buildkite.job-id"
_AGENT = "com.buildkite.agent_id"  # set by the docker plugin beside LABEL, unless `run-labels: false`
_FORMAT = "\t".join(["{{.ID}}", "{{.Names}}", f'{{{{.Label "{LABEL}"}}}}', f'{{{{.Label "{_AGENT}"}}}}'])
_PATIENCE = 20.0
_STOP = 10  # seconds between SIGTERM and SIGKILL, docker's own default


class Container(NamedTuple):
    """A running container of some job; `agent` is empty where it carries no such label."""

    id: str
    name: str
    job: str
    agent: str


def running(environ: Mapping[str, str] = os.environ) -> Optional[list[Container]]:
    """Every running container with a job's label; None where docker is absent or does not answer."""
    listed = _docker(environ, "ps", "--no-trunc", "--filter", f"label={LABEL}", "--format", _FORMAT)
    if listed is None:
        return None
    rows = [line.split("\t") for line in listed.splitlines()]
    return [Container(*row) for row in rows if len(row) == 4]


def stop(container: Container, environ: Mapping[str, str] = os.environ) -> bool:
    """Stop it: SIGTERM, then SIGKILL. False where docker did not."""
    return _docker(environ, "stop", "-t", str(_STOP), container.id, patience=_PATIENCE + _STOP) is not None


def _docker(environ: Mapping[str, str], *arguments: str, patience: float = _PATIENCE) -> Optional[str]:
    program = shutil.which("docker", path=environ.get("PATH"))
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603  # the program found on PATH; ids are docker's own
            [program, *arguments], env=dict(environ), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=patience, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
