"""Which files of a job are result files, and which are logs: by name, since content is parsing's business."""

from __future__ import annotations

from fnmatch import fnmatchcase

REPORT_PATTERNS = ("*.xml", "*attempts*.jsonl")
LOG_PATTERNS = ("*.log", "*.txt")
_COMPRESSED = (".gz", ".zst")


def is_report(path: str) -> bool:
    """Whether a file may hold test results; `.gz` and `.zst` of one count too."""
    return _matches(path, REPORT_PATTERNS)


def is_log(path: str) -> bool:
    """Whether a file may be a job's log; `.gz` and `.zst` of one count too."""
    return _matches(path, LOG_PATTERNS)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    name = path.rsplit("/", 1)[-1].lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return any(fnmatchcase(name, pattern) for pattern in patterns)
