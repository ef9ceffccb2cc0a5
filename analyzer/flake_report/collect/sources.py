"""What `ingest` can read: a row a kind of source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from flake_report.errors import FlakeReportError, NothingUsableError
from flake_report.model.evidence import Evidence

from .archive import build_folders, is_archive, read_archive
from .export import is_export, read_export
from .files import Warn
from .folder import BuildFrom, is_plain_folder, read_folder
from .reports import WANTED
from .storage import LocalFolder, Storage, open_storage


@dataclass(frozen=True, slots=True)
class Source:
    """One kind of source: how to know it, and how to read it."""

    recognises: Callable[[Storage], bool]
    read: Callable[[Storage, Warn], Iterator[Evidence]]


# The first that recognises a folder reads it: an archive is also a folder of files.
SOURCES: dict[str, Source] = {
    "archive": Source(is_archive, read_archive),
    "export": Source(is_export, read_export),
    "folder": Source(is_plain_folder, read_folder),
}


def open_source(path: str, warn: Warn, build_from: BuildFrom | None = None) -> Iterator[Evidence]:
    """The jobs below `path`, a folder or a URL, oldest build first; what cannot be read goes to `warn` meanwhile.

    `build_from` says that it is a plain folder, and what tells its builds apart. Raises, at once, `FlakeReportError`
    for a path that is no folder, `NothingUsableError` for one without results.
    """
    storage = open_storage(path)
    try:
        if isinstance(storage, LocalFolder):
            _check_folder(storage, path)
        if build_from and is_plain_folder(storage):
            return read_folder(storage, warn, build_from)
        for source in () if build_from else SOURCES.values():
            if source.recognises(storage):
                return source.read(storage, warn)
    except OSError as error:
        raise FlakeReportError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    raise NothingUsableError(f"{path}: holds no builds and no result files; looked for build.json.zst, {WANTED}")


def parts(path: str, build_from: BuildFrom | None = None) -> list[str]:
    """Sources that can be read apart from each other and are `path` together: an archive's builds, else `path` alone.

    Folders by their whole paths, as other processes have other working folders.
    """
    storage = open_storage(path)
    folders = [] if build_from else build_folders(storage)
    return [_whole(storage.place(folder)) for folder in folders or [""]]


def _whole(place: str) -> str:
    return place if "://" in place else str(Path(place).resolve())


def _check_folder(storage: LocalFolder, path: str) -> None:
    if storage.root.is_file():
        raise FlakeReportError(f"{path} is a file; give its folder, or read it with `parse` or `explain`")
    if not storage.root.is_dir():
        raise FlakeReportError(f"{path}: there is no such folder; check the path")
    next(storage.root.iterdir(), None)
