"""Patterns for artifact paths, as Buildkite writes them: `*` and `?` within a folder, `**` over folders."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_PARTS = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Whether the whole path fits one of the patterns; `**/` fits no folder, too. Case counts, `\\` is `/`."""
    plain = path.replace("\\", "/").removeprefix("./")
    return any(_compiled(pattern).fullmatch(plain) for pattern in patterns)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    regex, at = "", 0
    for special in _PARTS.finditer(pattern):
        regex += re.escape(pattern[at : special.start()]) + _MEANINGS[special[0]]
        at = special.end()
    return re.compile(regex + re.escape(pattern[at:]), re.DOTALL)
