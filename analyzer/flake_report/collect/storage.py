"""Where an archive lies: a folder, or a bucket behind a URL; the rest of the code does not know which."""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol
from uuid import uuid4

from flake_report.errors import FlakeReportError

_CHUNK = 1 << 18
_UNFINISHED = ".unfinished"
_ABANDONED = 3600.0  # seconds after which a writer on another machine is taken for dead
_RUN = uuid4().hex
_NUMBERS = itertools.count()
_HOST = socket.gethostname()[:100].replace("/", "_")


class MissingError(FlakeReportError):
    """There is no such file."""


class Storage(Protocol):
    """A tree of files. Paths are relative, with `/`, and "" is the top; trouble raises `FlakeReportError`."""

    def place(self, path: str) -> str:
        """What a person would call the file or folder."""

    def trail(self, path: str) -> list[str]:
        """The names of all folders down to this one, those above the top included."""

    def folders(self, path: str) -> list[str]:
        """The names of the folders right below a folder, sorted; none where there is no such folder."""

    def files(self, path: str) -> list[str]:
        """Every file below a folder at any depth, relative to it, sorted."""

    def has(self, path: str) -> bool:
        """Whether there is such a file."""

    def read(self, path: str) -> Iterator[bytes]:
        """The bytes of a file; `MissingError` where there is none."""

    def write(self, path: str, chunks: Iterable[bytes]) -> None:
        """A file, seen by others whole or not at all. What goes wrong in `chunks` passes through."""

    def sweep(self, path: str) -> None:
        """Remove what killed writers left at any depth below a folder, into which something was just written."""


def open_storage(path: str) -> Storage:
    """The folder at `path`, or the bucket behind a URL such as s3://bucket/folder, gs://… or az://…."""
    if "://" not in path:
        return LocalFolder(Path(path))
    from .bucket import Bucket  # noqa: PLC0415  # obstore is an extra, and only URLs need it

    return Bucket(path)


class LocalFolder:
    """A folder of this machine. Files get a name of their own while they are written and are renamed when whole."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def place(self, path: str) -> str:
        return str(self.root / path)

    def trail(self, path: str) -> list[str]:
        return list((self.root / path).resolve().parts)

    def folders(self, path: str) -> list[str]:
        try:
            with os.scandir(self.root / path) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise self._unreadable(path, error) from error

    def files(self, path: str) -> list[str]:
        top = self.root / path
        found = []
        for place, _folders, names in os.walk(top, onerror=self._raise_unreadable):
            inside = Path(place).relative_to(top).as_posix()
            found += [name if inside == "." else f"{inside}/{name}" for name in names if not name.endswith(_UNFINISHED)]
        return sorted(found)

    def has(self, path: str) -> bool:
        return (self.root / path).is_file()

    def read(self, path: str) -> Iterator[bytes]:
        try:
            with (self.root / path).open("rb") as opened:
                while chunk := opened.read(_CHUNK):
                    yield chunk
        except (FileNotFoundError, NotADirectoryError) as error:
            raise MissingError(f"{self.place(path)}: there is no such file; check the path") from error
        except OSError as error:
            raise self._unreadable(path, error) from error

    def write(self, path: str, chunks: Iterable[bytes]) -> None:
        file = self.root / path
        unfinished = file.with_name(f".{_HOST}-{os.getpid()}-{_RUN}{next(_NUMBERS)}{_UNFINISHED}")
        with _saying_where(file):
            opened = _opened(unfinished)
        try:
            with opened:
                for chunk in chunks:  # what goes wrong here is the source's business, not this file's
                    with _saying_where(file):
                        opened.write(chunk)
            with _saying_where(file):
                unfinished.replace(file)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    def sweep(self, path: str) -> None:
        folder = self.root / path
        with _saying_where(folder):
            now = folder.stat().st_mtime  # by the clock of the disk: something was just written here
            for left in folder.rglob(f".*{_UNFINISHED}"):
                host, pid, _ = left.name[1:].rsplit("-", 2)
                with suppress(FileNotFoundError):
                    if now - left.stat().st_mtime > _ABANDONED or (host == _HOST and not _lives(int(pid))):
                        left.unlink()

    def _raise_unreadable(self, error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise self._unreadable(str(error.filename), error)

    def _unreadable(self, path: str, error: OSError) -> FlakeReportError:
        return FlakeReportError(f"{self.place(path)}: cannot be read ({error.strerror}); check its permissions")


def _opened(unfinished: Path) -> BinaryIO:
    try:
        return unfinished.open("xb")
    except FileNotFoundError:
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        return unfinished.open("xb")


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's process lives, too
    return True


@contextmanager
def _saying_where(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FlakeReportError(f"{file}: cannot be written ({error.strerror}); check space and permissions") from error
