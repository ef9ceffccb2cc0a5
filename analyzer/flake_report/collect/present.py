"""What the build that is running now left: folders and files of its jobs, as its own pipeline step sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from flake_report.errors import FlakeReportError, NothingUsableError
from flake_report.model.evidence import Build, Evidence, Job, JobState

from .archive import build_folders, read_archive
from .files import Warn, file_blob, head_of
from .folder_files import ResultFile, job_blobs, result_files
from .reports import WANTED, kind_of
from .storage import open_storage
from .wire import step_of

_JOB_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])")
_VARIABLE = "BUILDKITE_{}"


@dataclass(frozen=True, slots=True)
class Here:
    """The build that runs, and the job that asks."""

    build: Build
    job: Job

    @classmethod
    def from_env(cls, env: Mapping[str, str], now: datetime) -> Here:
        """By the variables that Buildkite sets in each job; what is not set reads as unknown."""

        def told(name: str) -> str:
            return env.get(_VARIABLE.format(name), "")

        number = told("BUILD_NUMBER")
        whole = int(number) if number.isascii() and number.isdecimal() else None
        build = Build(
            org=told("ORGANIZATION_SLUG"), pipeline=told("PIPELINE_SLUG"), key=number or "this", number=whole,
            commit=told("COMMIT"), branch=told("BRANCH"), source=told("SOURCE"), created_at=now, state="",
        )  # fmt: skip
        parallel = bool(told("PARALLEL_JOB_COUNT"))
        job = Job(
            id=told("JOB_ID"), step=step_of(told("STEP_KEY"), told("LABEL"), parallel=parallel), label=told("LABEL"),
            queue=told("AGENT_META_DATA_QUEUE"), agent=told("AGENT_NAME"), host="", state=JobState.UNKNOWN,
            exit_status=None, signal_reason="", soft_failed=False, attempt=0, retry_type=None, retry_of=None, shard="",
            started_at=None, finished_at=None, command="",
        )  # fmt: skip
        return cls(build, job)


def present(paths: Sequence[str], here: Here, warn: Warn) -> Iterator[Evidence]:
    """The jobs that left these files; what cannot be read is warned about and left out.

    A folder that `collect` kept of one build is read with all that Buildkite told of its jobs. Of any other folder,
    each folder at its top is a step, and a file in it belongs to the job whose id stands in its path, else to the one
    job of the step; a file at the top, or named itself, that has no such id is of the job that asks.
    """
    jobs: dict[tuple[str, str], list[tuple[Path, ResultFile]]] = {}
    for path in paths:
        place = Path(path)
        if place.is_dir():
            storage = open_storage(path)
            if builds := build_folders(storage):
                if len(builds) > 1:
                    raise FlakeReportError(f"{path}: holds {len(builds)} builds; give the folder of one")
                yield from read_archive(storage, warn)
                continue
            for file in result_files(place, warn):
                jobs.setdefault(_job_of(file.path.relative_to(place)), []).append((place, file))
        else:
            jobs.setdefault(_job_of(Path(place.name)), []).append((place.parent, _named(place)))
    for (name, step), files in sorted(jobs.items()):
        tops = dict.fromkeys(top for top, _ in files)
        blobs = [job_blobs([file for place, file in files if place == top], top, warn) for top in tops]
        reports = tuple(report for some, _ in blobs for report in some)
        yield Evidence(here.build, _job(name, step, here.job), reports, next((log for _, log in blobs if log), None))


def _named(place: Path) -> ResultFile:
    """A file that somebody named, whatever it is called: what is no report is a log."""
    if not place.is_file():
        raise FlakeReportError(f"{place}: there is no such file or folder; check the path")
    kind = kind_of(place.name, partial(head_of, file_blob(place, place.name)))
    if kind is None:
        raise NothingUsableError(f"{place}: neither results nor a log; looked for {WANTED}")
    return ResultFile(place, kind)


def _job_of(path: Path) -> tuple[str, str]:
    """The job's id or name, and its step; both empty for the job that asks."""
    found = _JOB_ID.search(str(path).lower())
    folder = path.parts[0] if len(path.parts) > 1 else ""
    return (found[0] if found else folder), (folder or (found[0] if found else ""))


def _job(name: str, step: str, asking: Job) -> Job:
    if name in ("", asking.id):
        return replace(asking, id=asking.id or "this job")
    return replace(asking, id=name, step=step, label=step, queue="", agent="")
