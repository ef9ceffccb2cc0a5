"""What the simulated Buildkite holds: builds, jobs, logs and artifacts of one pipeline."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
"""When the tests take place."""


def stamp(at: datetime) -> str:
    """As the REST API writes times."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def made_id(*words: object) -> str:
    """Always the same UUID for the same words."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, words))))


@dataclass
class World:
    org: str = "acme"
    pipeline: str = "ci"
    builds: list[dict[str, Any]] = field(default_factory=list)
    logs: dict[str, bytes] = field(default_factory=dict)
    artifacts: dict[str, list[tuple[dict[str, Any], bytes]]] = field(default_factory=dict)
    deepest: int | None = None
    """The most builds that one listing shows before it answers 400."""

    def add_build(
        self, number: int, *jobs: dict[str, Any], age: timedelta | None = None, **fields: Any
    ) -> dict[str, Any]:
        """A finished build, `age` before noon; numbers go up with time."""
        self.builds.append(self.build(number, *jobs, age=age, **fields))
        self.builds.sort(key=lambda one: one["created_at"], reverse=True)
        return next(build for build in self.builds if build["number"] == number)

    def build(self, number: int, *jobs: dict[str, Any], age: timedelta | None = None, **fields: Any) -> dict[str, Any]:
        """The same, not added yet."""
        at = NOON - (timedelta(hours=100 - number) if age is None else age)
        return {
            "id": made_id("build", number),
            "url": f"https://api.buildkite.com/v2/organizations/{self.org}/pipelines/{self.pipeline}/builds/{number}",
            "number": number,
            "state": "failed" if any(job["state"] == "failed" and not job["retried"] for job in jobs) else "passed",
            "blocked": False,
            "commit": hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest(),
            "branch": "main",
            "source": "webhook",
            "created_at": stamp(at),
            "started_at": stamp(at + timedelta(seconds=5)),
            "finished_at": stamp(at + timedelta(minutes=30)),
            "pipeline": {"slug": self.pipeline, "running_builds_count": 3},
            "jobs": list(jobs),
            **fields,
        }

    def add_job(self, name: str, *, log: bytes | None = b"", state: str = "passed", **fields: Any) -> dict[str, Any]:
        """A job to hand to `add_build`; `name` is part of its id, so it is given once in a world."""
        identity = made_id("job", name)
        if log is not None:
            self.logs[identity] = log or f"--- {name}\n{state}\n".encode()
        return {
            "id": identity,
            "type": "script",
            "name": name,
            "step_key": name.split("#", maxsplit=1)[0],
            "step": {"id": made_id("step", name.split("#", maxsplit=1)[0])},
            "agent_query_rules": ["queue=gpu_1_queue"],
            "state": state,
            "command": "pytest",
            "soft_failed": False,
            "exit_status": {"passed": 0, "failed": 1}.get(state),
            "signal_reason": None,
            "started_at": stamp(NOON - timedelta(hours=2)),
            "finished_at": stamp(NOON - timedelta(hours=1)) if state in ("passed", "failed", "timed_out") else None,
            "retried": False,
            "retried_in_job_id": None,
            "retries_count": None,
            "retry_source": None,
            "retry_type": None,
            "agent": {
                "name": "l4-1",
                "hostname": "host-1",
                "connection_state": "connected",
                "meta_data": ["queue=gpu_1_queue"],
            },
            **fields,
        }

    def add_artifact(self, job: dict[str, Any], path: str, data: bytes, **fields: Any) -> None:
        rows = self.artifacts.setdefault(job["id"], [])
        row = {
            "id": made_id("artifact", job["id"], len(rows)),
            "job_id": job["id"],
            "state": "finished",
            "path": path,
            "file_size": len(data),
            "sha1sum": hashlib.sha1(data, usedforsecurity=False).hexdigest(),
            **fields,
        }
        rows.append((row, data))

    def find_build(self, number: str) -> dict[str, Any] | None:
        return next((build for build in self.builds if str(build["number"]) == number), None)
