"""A plain folder of results with no build information: its first level are builds, its second level jobs.

A file right below the folder, or right below a build, belongs to a job without a name. Keys are hashes of relative
paths, so that ingesting again replaces. A build's time is the earliest that its reports tell, else their age.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from flake_report.model.evidence import Blob, Build, Evidence, Job, JobState

from .files import Warn, file_blob, head_of
from .reports import FileKind, kind_of

ORG = "folder"
"""The organization of builds that no CI service told of; the pipeline is the folder's name."""

_TIMESTAMP = re.compile(rb"""\btimestamp\s*=\s*["']([^"']{10,40})["']|"started_at"\s*:\s*"([^"]{10,40})\"""")
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # some runners write year 1 or 1970 for "unknown"
_LIKELY_LOGS = ("log", "job", "build", "console", "output")


@dataclass(frozen=True, slots=True)
class _File:
    """A file that is worth reading."""

    path: Path
    kind: FileKind

    @property
    def is_report(self) -> bool:
        return self.kind is not FileKind.LOG


def is_plain_folder(root: Path) -> bool:
    """Whether any file below `root` may hold results or a log."""
    return next(_files(root, lambda _message: None), None) is not None


def _builds(root: Path) -> list[str]:
    """The builds' names, in order: first-level folders that hold something, and "" for files beside them."""
    names = {path.name for path in root.iterdir() if path.is_dir() and is_plain_folder(path)}
    return [*([""] if any(_loose(root)) else []), *sorted(names)]


def read_folder(root: Path, warn: Warn) -> Iterator[Evidence]:
    """The jobs of each build, by name; what cannot be read is warned about and left out."""
    top = root.resolve().name
    for name in _builds(root):
        try:
            yield from _build(root, top, name, warn)
        except OSError as error:
            warn(f"{error.filename or name}: cannot be read ({error.strerror}); the rest of build {name} is left out")


def _build(root: Path, top: str, name: str, warn: Warn) -> Iterator[Evidence]:
    jobs: dict[str, list[_File]] = {}
    for file in _files(root / name, warn) if name else _loose(root):
        parts = file.path.relative_to(root / name).parts
        jobs.setdefault(parts[0] if len(parts) > 1 else "", []).append(file)
    path = f"{top}/{name}" if name else top
    build = Build(
        org=ORG,
        pipeline=top,
        key=_key(path),
        number=None,
        commit="",
        branch="",
        source=ORG,
        created_at=_created_at([file for files in jobs.values() for file in files]),
        state="",
    )
    for job, files in sorted(jobs.items()):
        place = root / name / job
        reports = tuple(_blob(file.path, place) for file in files if file.is_report)
        log = _log([file.path for file in files if not file.is_report], place, warn)
        yield Evidence(build, _job(f"{path}/{job}", job), reports, log)


def _job(path: str, name: str) -> Job:
    return Job(
        id=_key(path),
        step=name,
        label=name,
        queue="",
        agent="",
        host="",
        state=JobState.UNKNOWN,
        exit_status=None,
        signal_reason="",
        soft_failed=False,
        attempt=0,
        retry_type=None,
        retry_of=None,
        shard="",
        started_at=None,
        finished_at=None,
        command="",
    )


def _files(folder: Path, warn: Warn) -> Iterator[_File]:
    """Reports and logs at any depth, in order; hidden files and folders are somebody else's."""

    def unreadable(error: OSError) -> None:
        warn(f"{error.filename}: cannot be read ({error.strerror}); left out")

    for place, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from _wanted(Path(place, name) for name in sorted(names))


def _loose(root: Path) -> Iterator[_File]:
    return _wanted(sorted(root.iterdir()))


def _wanted(paths: Iterable[Path]) -> Iterator[_File]:
    for path in paths:
        if path.name.startswith(".") or not path.is_file():
            continue
        if kind := kind_of(path.name, partial(head_of, file_blob(path, path.name))):
            yield _File(path, kind)


def _log(files: list[Path], place: Path, warn: Warn) -> Blob | None:
    """The job's log: the one whose name says so, else the largest."""
    if not files:
        return None
    chosen = max(files, key=lambda file: (file.name.split(".")[0].lower() in _LIKELY_LOGS, file.stat().st_size))
    if len(files) > 1:
        warn(f"{place}: {len(files)} logs in one job; only {chosen.name} is read")
    return _blob(chosen, place)


def _blob(file: Path, place: Path) -> Blob:
    name = file.relative_to(place).as_posix()
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return file_blob(file, name)


def _created_at(files: list[_File]) -> datetime:
    paths = [file.path for file in files if file.is_report] or [file.path for file in files]
    told = [at for path in paths if (at := _told_time(path)) is not None]
    return min(told) if told else min(datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in paths)


def _told_time(file: Path) -> datetime | None:
    """The first time that a report tells in its head; without a zone it counts as UTC."""
    for found in _TIMESTAMP.finditer(head_of(file_blob(file, file.name))):
        try:
            at = datetime.fromisoformat((found[1] or found[2]).decode("ascii", "replace").strip())
        except ValueError:
            continue
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
        if at >= _EARLIEST:
            return at
    return None


def _key(path: str) -> str:
    return hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()[:16]
