"""Which files of a job hold results, and which are logs: by name, and a JSON file also by how it begins."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from fnmatch import fnmatchcase

_COMPRESSED = (".gz", ".zst")


class FileKind(Enum):
    """What a file is good for, with the names that such files have; `.gz` and `.zst` of one count too."""

    REPORT = ("*.xml", "*attempts*.jsonl")
    COLLECTOR = ("*.json",)
    LOG = ("*.log", "*.txt")


WANTED = "*.xml, *attempts*.jsonl, buildkite-test-collector's *.json, *.log, *.txt"
"""All of it, for people."""


def kind_of(path: str, head: Callable[[], bytes]) -> FileKind | None:
    """What the file at `path` is good for; `head` gives its first bytes, and is asked only where the name says little.

    A collector's list is told from any other JSON by the fields of a test (github.com/buildkite/test-collector-python).
    """
    name = path.rsplit("/", 1)[-1].lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    for kind in FileKind:
        if any(fnmatchcase(name, pattern) for pattern in kind.value):
            return kind if kind is not FileKind.COLLECTOR or _is_collectors(head()) else None
    return None


def _is_collectors(head: bytes) -> bool:
    return head.lstrip().startswith(b"[") and all(field in head for field in (b'"scope"', b'"name"', b'"history"'))
