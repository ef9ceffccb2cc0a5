"""Which program this is: a text that changes whenever it might compute or write something else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def program() -> str:
    """Python, all packages that are installed, each with its version, and our own files with size and time.

    Names and versions are those of the folders that installers leave beside a package, `numpy-2.1.0.dist-info`: a
    listing costs less than asking for one version
    (https://packaging.python.org/en/latest/specifications/recording-installed-packages/). A package that is worked on
    changes no version, hence the files of ours.
    """
    return "\n".join((sys.version, *sorted(_installed()), *sorted(_sources(str(PACKAGE)))))


def _installed() -> Iterator[str]:
    for folder in sys.path:
        with suppress(OSError):  # an archive, or a folder that is not there
            yield from (
                ascii(each.name) for each in Path(folder).iterdir() if each.suffix in {".dist-info", ".egg-info"}
            )


def _sources(folder: str) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as inside:
        for each in inside:
            if each.is_dir():
                if each.name != "__pycache__":
                    yield from _sources(each.path)
            else:
                status = each.stat()
                yield f"{each.path!a} {status.st_size} {status.st_mtime_ns}"
