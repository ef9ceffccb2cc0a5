"""Buildkite's build exports, in a folder or in the bucket where they land.

`buildkite/build-exports/org={UUID}/date={YYYY-MM-DD}/pipeline={UUID}/build={UUID}/` holds `build.json.gz` (REST shape
without jobs), `jobs/job-{UUID}.json.gz` and `jobs/job-{UUID}.log`; artifacts are listed there and not held. As
documented at buildkite.com/docs/pipelines/governance/build-exports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Blob, Build, Evidence

from .compression import decompressed
from .files import Warn
from .layout import read_object
from .storage import MissingError, Storage
from .wire import Payload, home_of, read_build, read_jobs

_BUILD_FILE = "build.json.gz"
_WAY = re.compile(r"buildkite|build-exports|(?:org|date|pipeline)=.+")
"""Folders on the way down to a build."""

_JOB = re.compile(r"jobs/job-(.+)\.json(?:\.gz)?")


def is_export(storage: Storage) -> bool:
    """Whether there is an exported build, here or at the end of the folders that lead to one."""
    return next(_builds(storage), None) is not None


def read_export(storage: Storage, warn: Warn) -> Iterator[Evidence]:
    """The jobs of each build, day by day; what cannot be read is warned about and left out."""
    for folder in _builds(storage):
        try:
            payload = read_object(storage, f"{folder}{_BUILD_FILE}")
            build = read_build(payload, *home_of(payload))
            files = storage.files(folder.rstrip("/"))
        except MissingError:
            warn(f"{storage.place(folder)}: has no {_BUILD_FILE}; left out")
            continue
        except FlakeReportError as error:
            warn(str(error))
            continue
        yield from _jobs(storage, folder, files, build, warn)


def _builds(storage: Storage, folder: str = "") -> Iterator[str]:
    """The build folders, each with a slash at its end unless it is the top."""
    if storage.trail(folder)[-1].startswith("build="):
        yield f"{folder}/" if folder else ""
        return
    for name in storage.folders(folder):
        if name.startswith("build=") or _WAY.fullmatch(name):
            yield from _builds(storage, f"{folder}/{name}" if folder else name)


def _jobs(storage: Storage, folder: str, files: list[str], build: Build, warn: Warn) -> Iterator[Evidence]:
    payloads: list[Payload] = []
    for file in files:
        found = _JOB.fullmatch(file)
        if not found:
            continue
        try:
            payloads.append({"id": found[1], **read_object(storage, folder + file)})
        except FlakeReportError as error:
            warn(str(error))
    for job in read_jobs(payloads):
        log = f"jobs/job-{job.id}.log"
        yield Evidence(build, job, (), _log(storage, folder + log) if log in files else None)


def _log(storage: Storage, path: str) -> Blob:
    return Blob("log", lambda: decompressed("log", storage.read(path)))
