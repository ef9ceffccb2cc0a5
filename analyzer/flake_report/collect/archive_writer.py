"""Writes the archive: each file whole or not at all, a job's `job.json.zst` last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import zstandard

from flake_report.errors import FlakeReportError

from .archive import ARTIFACTS_FILE, ARTIFACTS_FOLDER, BUILD_FILE, JOB_FILE, LOG_FILE
from .stored_names import is_folder_name, stored_names
from .wire import Payload

_LEVEL = 6  # logs shrink by a third more than at the default 3, still faster than a network gives them


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact on its way into the archive: its REST object (`id`, `path`, `sha1sum` …) and its bytes."""

    about: Payload
    chunks: Iterable[bytes]


class ArchiveWriter:
    """Writes builds and jobs of one pipeline.

    Files get a name of their own while they are written and are renamed when whole, so that a killed writer leaves
    nothing half done, and two writers do not disturb each other.
    """

    def __init__(self, root: Path, org: str, pipeline: str) -> None:
        self._pipeline = root / _folder_name(org) / _folder_name(pipeline)

    def write_build(self, build: Payload) -> None:
        """The build as REST gives it, retried jobs included; a newer look at it replaces an older one."""
        _write(self._build_folder(build.get("number")) / BUILD_FILE, _json(build))

    def write_job(
        self, number: int, job: Payload, *, log: Iterable[bytes] | None = None, artifacts: Sequence[Artifact] = ()
    ) -> Path:
        """All of one finished job, `job.json.zst` last; returns the job's folder."""
        folder = self._build_folder(number) / _folder_name(job.get("id"))
        if log is not None:
            _write(folder / LOG_FILE, log)
        names = stored_names((str(one.about["path"]), str(one.about.get("id", ""))) for one in artifacts)
        for name, artifact in zip(names, artifacts, strict=True):
            _write(folder / ARTIFACTS_FOLDER / f"{name}.zst", artifact.chunks)
        rows = [{**artifact.about, "file": name} for name, artifact in zip(names, artifacts, strict=True)]
        _write(folder / ARTIFACTS_FILE, _json(rows))
        _write(folder / JOB_FILE, _json(job))
        return folder

    def _build_folder(self, number: object) -> Path:
        if not isinstance(number, int) or number < 1:
            raise FlakeReportError(f"a build with the number {number!r} cannot be stored; collect it again")
        return self._pipeline / str(number)


def _folder_name(name: object) -> str:
    if not isinstance(name, str) or not is_folder_name(name):
        raise FlakeReportError(f"{name!r} cannot name a folder of the archive; check the slug or the job's id")
    return name


def _json(value: Mapping[str, Any] | Sequence[Any]) -> Iterable[bytes]:
    return [json.dumps(value, separators=(",", ":")).encode()]


def _write(file: Path, chunks: Iterable[bytes]) -> None:
    unfinished = file.with_name(f".{uuid4().hex}.unfinished")
    packer = zstandard.ZstdCompressor(level=_LEVEL).compressobj()
    with _saying_where(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        opened = unfinished.open("xb")
    try:
        with opened:
            for chunk in chunks:  # what goes wrong here is the source's business, not this file's
                with _saying_where(file):
                    opened.write(packer.compress(chunk))
            with _saying_where(file):
                opened.write(packer.flush())
        with _saying_where(file):
            unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _saying_where(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FlakeReportError(f"{file}: cannot be written ({error.strerror}); check space and permissions") from error
