"""The whole simulated history, written as an archive such as the collector makes."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

from flake_report.collect.archive_writer import ArchiveWriter, Artifact
from flake_report.errors import FlakeReportError

from .jobs import FinishedJob, run_job
from .plan import PlannedBuild, made_up_id, plan
from .story import Story, read_story

NOTICE = (
    "This history is simulated: six weeks of a made-up pipeline, in the formats of real jobs. The numbers of the two "
    "known failures of test_fewer_blocks_with_hma are real (vLLM's CI, April 2026)."
)


def write_history(root: Path) -> None:
    """Write the archive below `root`; always the same evidence, and a note that says what it is."""
    story = read_story()
    writer = ArchiveWriter(root, story.history.org, story.history.pipeline)
    for build in plan(story):
        finished = _run(story, build)
        writer.write_build(_payload(build, finished))
        for job in finished:
            artifacts = [_artifact(job, path, data) for path, data in job.reports.items()]
            writer.write_job(build.number, job.payload, log=[job.log], artifacts=artifacts)
    note = root / "SIMULATED.txt"
    try:
        note.write_text(f"{NOTICE}\n", encoding="utf-8")
    except OSError as error:
        raise FlakeReportError(f"{note}: cannot be written ({error.strerror}); choose another folder") from error


def _run(story: Story, build: PlannedBuild) -> list[FinishedJob]:
    """The build's jobs; a retry starts when the job before it has ended, and both ends know of each other."""
    done: dict[str, FinishedJob] = {}
    for job in build.jobs:
        earlier = done.get(job.retry_of or "")
        ready_at = earlier.finished_at if earlier else build.created_at + timedelta(seconds=4)
        if earlier:
            link = {"retried": True, "retried_in_job_id": job.id, "retry_type": "automatic"}
            earlier = FinishedJob({**earlier.payload, **link}, earlier.log, earlier.reports, earlier.finished_at)
            done[job.retry_of or ""] = earlier
        done[job.id] = run_job(story, build, job, ready_at)
    return list(done.values())


def _payload(build: PlannedBuild, jobs: list[FinishedJob]) -> dict[str, Any]:
    last = [job for job in jobs if not job.payload["retried"]]
    return {
        "id": made_up_id("build", build.number),
        "number": build.number,
        "state": "failed" if any(job.payload["exit_status"] for job in last) else "passed",
        "message": "Simulated build of flake-report's demo history",
        "commit": build.commit,
        "branch": build.branch,
        "source": build.source,
        "created_at": build.created_at.isoformat(timespec="milliseconds"),
        "finished_at": max(job.finished_at for job in jobs).isoformat(timespec="milliseconds"),
        "jobs": [job.payload for job in jobs],
    }


def _artifact(job: FinishedJob, path: str, data: bytes) -> Artifact:
    about = {
        "id": made_up_id(job.payload["id"], path),
        "job_id": job.payload["id"],
        "state": "finished",
        "path": path,
        "file_size": len(data),
        "sha1sum": hashlib.sha1(data, usedforsecurity=False).hexdigest(),
    }
    return Artifact(about, [data])
