"""What `ingest` can read: a row a kind of source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from pathlib import Path

from flake_report.errors import FlakeReportError, NothingUsableError
from flake_report.model.evidence import Evidence

from .archive import archive_builds, is_archive, read_archive
from .files import Warn
from .folder import folder_builds, is_plain_folder, read_folder
from .reports import LOG_PATTERNS, REPORT_PATTERNS


@dataclass(frozen=True, slots=True)
class Source:
    """One kind of source: how to know it, how to count its builds cheaply, how to read it."""

    recognises: Callable[[Path], bool]
    builds: Callable[[Path], Sized]
    read: Callable[[Path, Warn], Iterator[Evidence]]


# The first that recognises a folder reads it: an archive is also a folder of files.
SOURCES: dict[str, Source] = {
    "archive": Source(is_archive, archive_builds, read_archive),
    "folder": Source(is_plain_folder, folder_builds, read_folder),
}


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A source that was recognised: its kind, the number of its builds, and its jobs, to be read once."""

    kind: str
    builds: int
    evidence: Iterator[Evidence]


def open_source(path: str, warn: Warn) -> OpenedSource:
    """The jobs below `path`; what cannot be read goes to `warn` while they are read.

    Raises `FlakeReportError` for a path that is no folder, `NothingUsableError` for a folder without results.
    """
    root = Path(path)
    try:
        if root.is_file():
            raise FlakeReportError(
                f"{path} is a file; name the folder that holds it, or read it with `parse` or `explain`"
            )
        if not root.is_dir():
            raise FlakeReportError(f"{path}: there is no such folder; check the path")
        next(root.iterdir(), None)
        for kind, source in SOURCES.items():
            if source.recognises(root):
                return OpenedSource(kind, len(source.builds(root)), source.read(root, warn))
    except OSError as error:
        raise FlakeReportError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    wanted = ", ".join((*REPORT_PATTERNS, *LOG_PATTERNS))
    raise NothingUsableError(f"{path}: holds no builds and no result files; looked for build.json.zst and {wanted}")
