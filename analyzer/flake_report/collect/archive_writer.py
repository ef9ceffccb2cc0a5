"""Writes the archive: each file whole or not at all, a job's `job.json.zst` last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import zstandard

from flake_report.errors import FlakeReportError

from .layout import ARTIFACTS_FILE, ARTIFACTS_FOLDER, BUILD_FILE, JOB_FILE, LOG_FILE
from .storage import LocalFolder, Storage
from .stored_names import is_folder_name, stored_names
from .wire import Payload

_LEVEL = 6  # logs shrink by a third more than at the default 3, still faster than a network gives them


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact on its way into the archive: its REST object (`id`, `path`, `sha1sum` …) and its bytes."""

    about: Payload
    chunks: Iterable[bytes]


class ArchiveWriter:
    """Writes builds and jobs of one pipeline; any number of writers may do so at once."""

    def __init__(self, root: Path | Storage, org: str, pipeline: str) -> None:
        self._storage: Storage = LocalFolder(root) if isinstance(root, Path) else root
        self._pipeline = f"{_folder_name(org)}/{_folder_name(pipeline)}"

    def build_folder(self, number: object) -> str:
        """The folder of a build within the archive."""
        if not isinstance(number, int) or number < 1:
            raise FlakeReportError(f"a build with the number {number!r} cannot be stored; collect it again")
        return f"{self._pipeline}/{number}"

    def job_folder(self, number: object, job: object) -> str:
        """The folder of a job within the archive."""
        return f"{self.build_folder(number)}/{_folder_name(job)}"

    def write_build(self, build: Payload) -> None:
        """The build as REST gives it, retried jobs included; a newer look at it replaces an older one."""
        self.write_json(f"{self.build_folder(build.get('number'))}/{BUILD_FILE}", build)

    def write_job(
        self, number: int, job: Payload, *, log: Iterable[bytes] | None = None, artifacts: Sequence[Artifact] = ()
    ) -> None:
        """All of one finished job, `job.json.zst` last."""
        folder = self.job_folder(number, job.get("id"))
        if log is not None:
            self.write(f"{folder}/{LOG_FILE}", log)
        rows = with_files([artifact.about for artifact in artifacts])
        for row, artifact in zip(rows, artifacts, strict=True):
            self.write(artifact_file(folder, row), artifact.chunks)
        self.finish_job(folder, job, rows)

    def finish_job(self, folder: str, job: Payload, rows: Sequence[Payload]) -> None:
        """The list of a job's artifacts, then the job itself: log and artifacts are already there."""
        self.write_json(f"{folder}/{ARTIFACTS_FILE}", rows)
        self.write_json(f"{folder}/{JOB_FILE}", job)

    def write_json(self, path: str, value: Mapping[str, Any] | Sequence[Any]) -> None:
        """One JSON value."""
        self.write(path, [json.dumps(value, separators=(",", ":")).encode()])

    def write(self, path: str, chunks: Iterable[bytes]) -> None:
        """One file of plain bytes."""
        self._storage.write(path, _packed(chunks))


def with_files(rows: Sequence[Payload]) -> list[Payload]:
    """A job's artifacts, each with the `file` below `artifacts/` where it goes; always the same for the same rows."""
    names = stored_names((str(row["path"]), str(row.get("id", ""))) for row in rows)
    return [{**row, "file": name} for row, name in zip(rows, names, strict=True)]


def artifact_file(folder: str, row: Payload) -> str:
    """Where an artifact of a job's folder goes, given its row of `with_files`."""
    return f"{folder}/{ARTIFACTS_FOLDER}/{row['file']}.zst"


def _folder_name(name: object) -> str:
    if not isinstance(name, str) or not is_folder_name(name):
        raise FlakeReportError(f"{name!r} cannot name a folder of the archive; check the slug or the job's id")
    return name


def _packed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = iter(chunks)
    first, second = next(rest, b""), next(rest, None)
    packer = zstandard.ZstdCompressor(level=_LEVEL)
    if second is None:
        yield packer.compress(first)
        return
    stream = packer.compressobj()
    for chunk in chain((first, second), rest):
        yield stream.compress(chunk)
    yield stream.flush()
