"""What `ingest` can read: a row a kind of source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from flake_report.errors import FlakeReportError, NothingUsableError
from flake_report.model.evidence import Evidence

from .archive import is_archive, read_archive
from .files import Warn
from .folder import is_plain_folder, read_folder
from .reports import WANTED


@dataclass(frozen=True, slots=True)
class Source:
    """One kind of source: how to know it, and how to read it."""

    recognises: Callable[[Path], bool]
    read: Callable[[Path, Warn], Iterator[Evidence]]


# The first that recognises a folder reads it: an archive is also a folder of files.
SOURCES: dict[str, Source] = {
    "archive": Source(is_archive, read_archive),
    "folder": Source(is_plain_folder, read_folder),
}


def open_source(path: str, warn: Warn) -> Iterator[Evidence]:
    """The jobs below `path`, oldest build first; what cannot be read goes to `warn` while they are read.

    Raises, at once, `FlakeReportError` for a path that is no folder, `NothingUsableError` for one without results.
    """
    root = Path(path)
    try:
        if root.is_file():
            raise FlakeReportError(f"{path} is a file; give its folder, or read it with `parse` or `explain`")
        if not root.is_dir():
            raise FlakeReportError(f"{path}: there is no such folder; check the path")
        next(root.iterdir(), None)
        for source in SOURCES.values():
            if source.recognises(root):
                return source.read(root, warn)
    except OSError as error:
        raise FlakeReportError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    raise NothingUsableError(f"{path}: holds no builds and no result files; looked for build.json.zst, {WANTED}")
