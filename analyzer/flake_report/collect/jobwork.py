"""One finished job: its log and its artifacts into the archive, its own object last."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .answer import Body
from .archive_writer import ArchiveWriter, artifact_file, with_files
from .asked import Asked
from .files import Warn
from .layout import ADDED, LOG_FILE
from .rest import PipelineApi
from .storage import Storage
from .tally import Tally
from .wire import Payload


@dataclass(frozen=True, slots=True)
class Means:
    """What every part of a collection works with."""

    api: PipelineApi
    storage: Storage
    writer: ArchiveWriter
    asked: Asked
    tally: Tally
    warn: Warn


def keep_job(
    means: Means, number: int, job: Payload, *, asked: Asked, artifacts: Sequence[Payload], there: Collection[str]
) -> None:
    """Fetch what of the job is wanted and not `there` yet (files below the build's folder), and complete it.

    `artifacts` are its rows in Buildkite's list that are wanted. A log or an artifact that is gone is not waited for.
    """
    kept = _Job(means, number, means.writer.job_folder(number, job.get("id")), frozenset(there))
    rows: list[Payload] = []
    if asked.wants(job):
        kept.log(str(job["id"]))
        rows = [row for row in with_files(artifacts) if kept.artifact(row)]
    means.writer.finish_job(kept.folder, {**job, ADDED: asked.written()}, rows)
    means.tally.add(jobs=1)


@dataclass(frozen=True, slots=True)
class _Job:
    """A job's folder while it is filled."""

    means: Means
    number: int
    folder: str
    there: frozenset[str]

    def log(self, identity: str) -> None:
        """The log, unless it is there: it was whole when it got its name, and the job had ended."""
        path = f"{self.folder}/{LOG_FILE}"
        if self._has(path):
            return
        body = self.means.api.log(self.number, identity)
        if body is not None:
            self.means.tally.add(logs=1, bytes=self._write(path, body))

    def artifact(self, row: Payload) -> bool:
        """Whether the artifact is in the archive now."""
        path = artifact_file(self.folder, row)
        if self._has(path):
            return True
        body = self.means.api.artifact(self.number, row)
        if body is None:
            self.means.warn(f"{self.means.api.name} build {self.number}: the artifact {row['path']} is gone; left out")
            return False
        self.means.tally.add(artifacts=1, bytes=self._write(path, body))
        return True

    def _has(self, path: str) -> bool:
        return "/".join(path.split("/")[3:]) in self.there  # below <org>/<pipeline>/<build number>

    def _write(self, path: str, body: Body) -> int:
        with body:
            self.means.writer.write(path, body.chunks())
            return body.tell()
