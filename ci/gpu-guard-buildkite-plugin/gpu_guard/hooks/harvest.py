"""What the tests wrote, taken out of the checkout with care: it is a place where the job could put anything.

A container's root may have left a link there to a file that only the agent can read; following it would publish it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path
from typing import Optional

from .luggage import FOLDER

LARGEST = 200 * 2**20
"""Bytes of one file: a larger one is left where it is."""

_OURS = re.compile(r"(attempts-[\w.-]+\.jsonl|junit-[\w.-]+\.xml)")
_FOLDER_ONLY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def harvest(checkout: Path, target: Path) -> tuple[list[str], list[str]]:
    """Copy the recorder's files into the folder `target`: the names, and a sentence for each file that was left.

    Raise OSError where the folders are not what the guard made, or `target` does not take the files.
    """
    folders = [os.open(checkout, _FOLDER_ONLY & ~os.O_NOFOLLOW)]
    try:
        for name in (FOLDER, "record"):
            folders.append(os.open(name, _FOLDER_ONLY, dir_fd=folders[-1]))
        taken: list[str] = []
        left: list[str] = []
        for name in sorted(os.listdir(folders[-1])):  # noqa: PTH208  # an open folder has no path
            if _OURS.fullmatch(name):
                why = _copy(name, folders[-1], target / name)
                if why is None:
                    taken.append(name)
                else:
                    left.append(f"{name} is not uploaded: {why}")
        return taken, left
    finally:
        for folder in folders:
            os.close(folder)


def _copy(name: str, folder: int, target: Path) -> Optional[str]:
    """Copy one plain file: None; else why not."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        return str(error.strerror)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            return "it is no plain file"
        if facts.st_size > LARGEST:
            return f"it has {facts.st_size / 2**20:.0f} MiB"
        with open(handle, "rb", closefd=False) as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    finally:
        os.close(handle)
    return None
