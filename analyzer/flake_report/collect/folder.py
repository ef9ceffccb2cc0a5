"""A plain folder of results with no build information.

By path: its first level are builds, its second level jobs; a file right below the folder, or right below a build,
belongs to a job without a name, and a build's time is the earliest that its reports tell, else their age. By age:
files that were written within an hour of each other are one build, and folders are jobs.

Keys are hashes of relative paths, or of the folder and the oldest file's age, so that ingesting again replaces.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from flake_report.model.evidence import Build, Evidence, Job, JobState

from .files import Warn, file_blob, head_of
from .folder_files import ResultFile, job_blobs, loose_files, result_files
from .storage import LocalFolder, Storage

ORG = "folder"
"""The organization of builds that no CI service told of; the pipeline is the folder's name."""

_TIMESTAMP = re.compile(rb"""\btimestamp\s*=\s*["']([^"']{10,40})["']|"started_at"\s*:\s*"([^"]{10,40})\"""")
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # some runners write year 1 or 1970 for "unknown"
_ONE_BUILD = timedelta(hours=1)


class BuildFrom(StrEnum):
    """What tells the builds of a plain folder apart."""

    PATH = "path"
    MTIME = "mtime"


def is_plain_folder(storage: Storage) -> bool:
    """Whether this is a folder of this machine, and any file in it may hold results or a log."""
    return isinstance(storage, LocalFolder) and _holds_results(storage.root)


def read_folder(storage: Storage, warn: Warn, build_from: BuildFrom = BuildFrom.PATH) -> Iterator[Evidence]:
    """The jobs of each build, by name or by age; what cannot be read is warned about and left out."""
    root = Path(storage.place(""))
    top = root.resolve().name
    if build_from is BuildFrom.MTIME:
        yield from _by_age(root, top, warn)
        return
    for name in _builds(root):
        try:
            yield from _by_path(root, top, name, warn)
        except OSError as error:
            warn(f"{error.filename or name}: cannot be read ({error.strerror}); the rest of build {name} is left out")


def _holds_results(root: Path) -> bool:
    return next(result_files(root, lambda _message: None), None) is not None


def _builds(root: Path) -> list[str]:
    """The builds' names, in order: first-level folders that hold something, and "" for files beside them."""
    names = {path.name for path in root.iterdir() if path.is_dir() and not _leads_back(path) and _holds_results(path)}
    return [*([""] if any(loose_files(root)) else []), *sorted(names)]


def _leads_back(path: Path) -> bool:
    """Whether a link leads to what is read anyway, or around it: `latest`, or a loop. It would count twice."""
    if not path.is_symlink():
        return False
    root, target = path.parent.resolve(), path.resolve()
    return target.is_relative_to(root) or root.is_relative_to(target)


def _by_path(root: Path, top: str, name: str, warn: Warn) -> Iterator[Evidence]:
    jobs: dict[str, list[ResultFile]] = {}
    for file in result_files(root / name, warn) if name else loose_files(root):
        parts = file.path.relative_to(root / name).parts
        jobs.setdefault(parts[0] if len(parts) > 1 else "", []).append(file)
    path = f"{top}/{name}" if name else top
    build = _build(top, path, _created_at([file for files in jobs.values() for file in files]))
    for job, files in sorted(jobs.items()):
        yield Evidence(build, _job(f"{path}/{job}", job), *job_blobs(files, root / name / job, warn))


def _by_age(root: Path, top: str, warn: Warn) -> Iterator[Evidence]:
    aged: list[tuple[datetime, ResultFile]] = []
    for file in result_files(root, warn):
        try:
            aged.append((_age(file.path), file))
        except OSError as error:
            warn(f"{file.path}: cannot be read ({error.strerror}); left out")
    aged.sort(key=lambda one: (one[0], one[1].path))
    while aged:
        last = next((n for n in range(1, len(aged)) if aged[n][0] - aged[n - 1][0] > _ONE_BUILD), len(aged))
        now, aged = aged[:last], aged[last:]
        path = f"{top}@{now[0][0].isoformat()}"
        jobs: dict[str, list[ResultFile]] = {}
        for _, file in now:
            inside = file.path.parent.relative_to(root).as_posix()
            jobs.setdefault("" if inside == "." else inside, []).append(file)
        build = _build(top, path, now[0][0])
        for job, files in sorted(jobs.items()):
            yield Evidence(build, _job(f"{path}/{job}", job), *job_blobs(files, root / job, warn))


def _build(top: str, path: str, created_at: datetime) -> Build:
    return Build(
        org=ORG,
        pipeline=top,
        key=_key(path),
        number=None,
        commit="",
        branch="",
        source=ORG,
        created_at=created_at,
        state="",
    )


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


def _created_at(files: list[ResultFile]) -> datetime:
    paths = [file.path for file in files if file.is_report] or [file.path for file in files]
    told = [at for path in paths if (at := _told_time(path)) is not None]
    return min(told) if told else min(map(_age, paths))


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


def _age(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


def _key(path: str) -> str:
    return hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()[:16]
