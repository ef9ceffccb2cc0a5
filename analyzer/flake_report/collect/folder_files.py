"""The files of a plain folder that are worth reading: reports, and logs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flake_report.model.evidence import Blob

from .files import Warn, file_blob, head_of
from .reports import FileKind, kind_of

_LIKELY_LOGS = ("log", "job", "build", "console", "output")


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A file that is worth reading."""

    path: Path
    kind: FileKind

    @property
    def is_report(self) -> bool:
        """Whether it holds results; else it is a log."""
        return self.kind is not FileKind.LOG


def result_files(folder: Path, warn: Warn) -> Iterator[ResultFile]:
    """Reports and logs at any depth, in order; hidden files and folders are somebody else's."""

    def unreadable(error: OSError) -> None:
        warn(f"{error.filename}: cannot be read ({error.strerror}); left out")

    for place, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from _wanted(Path(place, name) for name in sorted(names))


def loose_files(folder: Path) -> Iterator[ResultFile]:
    """Those right in the folder."""
    return _wanted(sorted(folder.iterdir()))


def job_blobs(files: Iterable[ResultFile], place: Path, warn: Warn) -> tuple[tuple[Blob, ...], Blob | None]:
    """The reports and the log of one job, named by their paths below `place`."""
    all_of_it = list(files)
    reports = tuple(_blob(file.path, place) for file in all_of_it if file.is_report)
    return reports, _log([file.path for file in all_of_it if not file.is_report], place, warn)


def _wanted(paths: Iterable[Path]) -> Iterator[ResultFile]:
    for path in paths:
        if path.name.startswith(".") or not path.is_file():
            continue
        if kind := kind_of(path.name, partial(head_of, file_blob(path, path.name))):
            yield ResultFile(path, kind)


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
