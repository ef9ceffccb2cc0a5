"""The archive: raw evidence as Buildkite gave it, one folder a build.

`<org>/<pipeline>/<build number>/build.json.zst` (REST shape, retried jobs included) and, below it, a folder a job:
`job.json.zst` (written last: the job is complete), `log.zst`, `artifacts/<path>.zst`, `artifacts.json.zst` (the REST
list; `file` in each row is where the artifact lies below `artifacts/`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Blob, Build, Evidence

from .files import Warn, file_blob, head_of
from .reports import FileKind, kind_of
from .stored_names import is_inside
from .wire import Payload, read_build, read_jobs

BUILD_FILE = "build.json.zst"
JOB_FILE = "job.json.zst"
LOG_FILE = "log.zst"
ARTIFACTS_FILE = "artifacts.json.zst"
ARTIFACTS_FOLDER = "artifacts"

_DEPTHS = ("", "*/", "*/*/", "*/*/*/")  # one build, one pipeline, one organization, the archive: an artifact may share
# the name of the build file, so the shallowest place wins


def is_archive(root: Path) -> bool:
    """Whether `root` is an archive, or a part of one: an organization, a pipeline, a build."""
    return any(next(root.glob(depth + BUILD_FILE), None) for depth in _DEPTHS)


def _builds(root: Path) -> list[Path]:
    """The build folders, by organization and pipeline, then by number."""
    for depth in _DEPTHS:
        if found := [file.parent.resolve() for file in root.glob(depth + BUILD_FILE)]:
            return sorted(found, key=_place)
    return []


def read_archive(root: Path, warn: Warn) -> Iterator[Evidence]:
    """The complete jobs of each build, oldest build first; what cannot be read is warned about and left out."""
    for folder in _builds(root):
        try:
            payload = _read_object(folder / BUILD_FILE)
            build = read_build(payload, folder.parent.parent.name, folder.parent.name)
        except FlakeReportError as error:
            warn(str(error))
            continue
        try:
            yield from _jobs(folder, build, payload, warn)
        except OSError as error:
            place = error.filename or folder
            warn(f"{place}: cannot be read ({error.strerror}); the rest of build {build.key} is left out")


def _jobs(folder: Path, build: Build, payload: Payload, warn: Warn) -> Iterator[Evidence]:
    listed = payload.get("jobs")
    known = {job["id"]: job for job in listed if _has_id(job)} if isinstance(listed, list) else {}
    complete, incomplete = [], 0
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        if not (place / JOB_FILE).is_file():
            incomplete += 1
            continue
        try:
            known[place.name] = {**_read_object(place / JOB_FILE), "id": place.name}
            complete.append(place.name)
        except FlakeReportError as error:
            warn(str(error))
    if incomplete:
        warn(f"{folder}: {incomplete} jobs are not complete and are left out; collect the build again")
    jobs = {job.id: job for job in read_jobs(known.values())}
    for identity in complete:
        if job := jobs.get(identity):
            place = folder / identity
            log = place / LOG_FILE
            yield Evidence(build, job, _reports(place, warn), file_blob(log, "log") if log.is_file() else None)


def _reports(place: Path, warn: Warn) -> tuple[Blob, ...]:
    """The artifacts that may hold results, under their original paths."""
    folder = place / ARTIFACTS_FOLDER
    blobs = []
    for path, stored in sorted(_artifacts(place, warn)):
        blob = file_blob(folder / f"{stored}.zst", path)
        there = is_inside(stored) and (folder / f"{stored}.zst").is_file()
        kind = kind_of(path, partial(head_of, blob) if there else bytes)
        if kind in (None, FileKind.LOG):
            continue
        if there:
            blobs.append(blob)
        else:
            warn(f"{place}: the artifact {path} is listed but not stored; collect the build again")
    return tuple(blobs)


def _artifacts(place: Path, warn: Warn) -> Iterator[tuple[str, str]]:
    """Original path and stored path of each artifact: from the list, else from the folder itself."""
    folder, listing = place / ARTIFACTS_FOLDER, place / ARTIFACTS_FILE
    try:
        rows = _read_json(listing) if listing.is_file() else None
    except FlakeReportError as error:
        warn(str(error))
        rows = None
    if isinstance(rows, list):
        for row in rows:
            if isinstance(row, dict) and isinstance(row.get("path"), str) and isinstance(row.get("file"), str):
                yield row["path"], row["file"]
        return
    for file in folder.rglob("*.zst"):
        stored = file.relative_to(folder).as_posix().removesuffix(".zst")
        yield stored, stored


def _read_object(file: Path) -> dict[str, Any]:
    value = _read_json(file)
    if not isinstance(value, dict):
        raise FlakeReportError(f"{file}: holds no JSON object; collect the build again")
    return value


def _read_json(file: Path) -> Any:
    try:
        return json.loads(b"".join(file_blob(file, str(file)).read()))
    except (ValueError, RecursionError) as error:
        raise FlakeReportError(f"{file}: is no JSON ({error}); collect the build again") from error


def _has_id(job: object) -> bool:
    return isinstance(job, dict) and isinstance(job.get("id"), str)


def _place(folder: Path) -> tuple[str, str, int, str]:
    number = int(folder.name) if folder.name.isdecimal() and folder.name.isascii() else 0
    return folder.parent.parent.name, folder.parent.name, number, folder.name
