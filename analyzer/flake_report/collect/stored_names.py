"""Where an artifact may lie in the archive: never outside its folder, never on top of another."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[\w .,+=@()\[\]-]")
_LONGEST_PART = 200  # bytes: file systems take 255, and a mark and a suffix follow
_LONGEST_PATH = 800  # characters: Linux takes 4,096 bytes, and the archive's own path stands before


def stored_names(artifacts: Iterable[tuple[str, str]]) -> list[str]:
    """A relative path for each artifact, given its original path and id, in the same order.

    A harmless path is kept. Any other is made harmless and marked with a hash of path and id, as is a path that
    came before (two uploads under one name), also where only upper and lower case differ.
    """
    taken: set[str] = set()
    names = []
    for path, identity in artifacts:
        parts = [_safe_part(part) for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        name = "/".join(parts)
        if not name or name != path or name.lower() in taken or len(name) > _LONGEST_PATH:
            mark = hashlib.sha256(f"{path}\0{identity}".encode(errors="surrogatepass")).hexdigest()[:12]
            name = f"{name if len(name) <= _LONGEST_PATH else parts[-1]}~{mark}"
        taken.add(name.lower())
        names.append(name)
    return names


def is_inside(name: str) -> bool:
    """Whether a stored path, read back from a list, stays inside its folder."""
    return bool(name) and "\0" not in name and not name.startswith("/") and ".." not in name.split("/")


def is_folder_name(name: str) -> bool:
    """Whether a slug or an id from outside can name a folder."""
    return re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", name) is not None


def _safe_part(part: str) -> str:
    plain = "".join(char if _PLAIN.fullmatch(char) else "_" for char in part)
    kept = plain.encode()[:_LONGEST_PART].decode(errors="ignore")
    # A folder called `x.zst` would stand where the artifact `x` is stored.
    return f"{kept[:-4]}_zst" if kept.lower().endswith(".zst") else kept
