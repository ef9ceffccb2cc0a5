"""Reads the archive: the complete jobs of each build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Blob, Build, Evidence, LogMode

from .compression import decompressed
from .files import Warn, head_of
from .layout import ADDED, ARTIFACTS_FILE, ARTIFACTS_FOLDER, BUILD_FILE, JOB_FILE, LOG_FILE, read_json, read_object
from .reports import FileKind, kind_of
from .storage import MissingError, Storage
from .stored_names import is_inside
from .wire import Payload, read_build, read_jobs, retold

_DEEPEST = 3  # one build, one pipeline, one organization, the archive: an artifact may share the name of the build
# file, so the shallowest place wins


def is_archive(storage: Storage) -> bool:
    """Whether this is an archive, or a part of one: an organization, a pipeline, a build."""
    return bool(build_folders(storage))


def read_archive(storage: Storage, warn: Warn) -> Iterator[Evidence]:
    """The complete jobs of each build, by organization, pipeline and number; what cannot be read is warned about."""
    for path in build_folders(storage):
        org, pipeline, _number = storage.trail(path)[-3:]
        try:
            payload = read_object(storage, _join(path, BUILD_FILE))
            build = read_build(payload, org, pipeline)
        except MissingError:
            continue  # a folder beside the builds
        except FlakeReportError as error:
            warn(str(error))
            continue
        try:
            files = frozenset(storage.files(path))
        except FlakeReportError as error:
            warn(f"{error}; the rest of build {build.key} is left out")
            continue
        yield from _Folder(storage, path, files, warn).jobs(build, payload)


def asked_for(job: Payload) -> LogMode:
    """Of which jobs the collector asked for logs and artifacts when it kept this one."""
    added = job.get(ADDED)
    return LogMode.FAILED if isinstance(added, Mapping) and added.get("logs") == LogMode.FAILED else LogMode.ALL


def build_folders(storage: Storage) -> list[str]:
    """The folders that may be builds, in order; none where this is no archive."""
    level = [""]
    for depth in range(_DEEPEST + 1):
        if any(storage.has(_join(path, BUILD_FILE)) for path in level):
            return sorted(level, key=lambda path: _order(storage.trail(path)))
        if depth < _DEEPEST:
            level = [_join(path, name) for path in level for name in storage.folders(path)]
    return []


@dataclass(frozen=True, slots=True)
class _Folder:
    """One build's folder, and every file in it."""

    storage: Storage
    path: str
    files: frozenset[str]
    warn: Warn

    def jobs(self, build: Build, payload: Payload) -> Iterator[Evidence]:
        """What each complete job left."""
        kept = self._kept()
        listed = payload.get("jobs")
        known: dict[str, Payload] = {
            job["id"]: job for job in (listed if isinstance(listed, list) else []) if _has_id(job)
        }
        for name, job in kept.items():
            known[name] = {**retold(job, known.get(name, {})), "id": name}
        jobs = {job.id: job for job in read_jobs(known.values())}
        for name, own in kept.items():
            if found := jobs.get(name):
                log = self._blob(f"{name}/{LOG_FILE}", "log") if f"{name}/{LOG_FILE}" in self.files else None
                yield Evidence(build, found, self._reports(name), log, asked_for(own))

    def _kept(self) -> dict[str, Payload]:
        """The object of each complete job, by the name of its folder."""
        names = sorted({file.partition("/")[0] for file in self.files if "/" in file})
        complete = [name for name in names if f"{name}/{JOB_FILE}" in self.files]
        if begun := len(names) - len(complete):
            place = self.storage.place(self.path)
            self.warn(f"{place}: {begun} jobs are not complete and are left out; collect the build again")
        kept: dict[str, Payload] = {}
        for name in complete:
            try:
                kept[name] = read_object(self.storage, _join(self.path, f"{name}/{JOB_FILE}"))
            except FlakeReportError as error:
                self.warn(str(error))
        return kept

    def _reports(self, job: str) -> tuple[Blob, ...]:
        """The artifacts that may hold results, under their original paths."""
        blobs = []
        for path, stored in sorted(self._artifacts(job)):
            file = f"{job}/{ARTIFACTS_FOLDER}/{stored}.zst"
            blob = self._blob(file, path)
            there = is_inside(stored) and file in self.files
            kind = kind_of(path, partial(head_of, blob) if there else bytes)
            if kind in (None, FileKind.LOG):
                continue
            if there:
                blobs.append(blob)
            else:
                place = self.storage.place(_join(self.path, job))
                self.warn(f"{place}: the artifact {path} is listed but not stored; collect the build again")
        return tuple(blobs)

    def _artifacts(self, job: str) -> Iterator[tuple[str, str]]:
        """Original path and stored path of each artifact: from the list, else from the folder itself."""
        rows = None
        if f"{job}/{ARTIFACTS_FILE}" in self.files:
            try:
                rows = read_json(self.storage, _join(self.path, f"{job}/{ARTIFACTS_FILE}"))
            except FlakeReportError as error:
                self.warn(str(error))
        if isinstance(rows, list):
            yield from _paths(rows)
            return
        folder = f"{job}/{ARTIFACTS_FOLDER}/"
        for file in self.files:
            if file.startswith(folder) and file.endswith(".zst"):
                stored = file.removeprefix(folder).removesuffix(".zst")
                yield stored, stored

    def _blob(self, file: str, name: str) -> Blob:
        """A file of the build; an artifact that was compressed before it was uploaded lies there compressed twice."""
        path = _join(self.path, file)
        return Blob(name, lambda: decompressed(name, decompressed(name, self.storage.read(path))))


def _paths(rows: list[Any]) -> Iterator[tuple[str, str]]:
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("path"), str) and isinstance(row.get("file"), str):
            yield row["path"], row["file"]


def _has_id(job: object) -> bool:
    return isinstance(job, dict) and isinstance(job.get("id"), str)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _order(trail: list[str]) -> tuple[list[str], int, str]:
    number = int(trail[-1]) if trail[-1].isdecimal() and trail[-1].isascii() else 0
    return trail[-3:-1], number, trail[-1]
