"""What a pattern captured, as values: numbers as numbers, sizes in GiB."""

from __future__ import annotations

import re
from collections.abc import Mapping

from flake_report.model.failure import Captured

_TEXT = frozenset({"device", "devices", "version", "host", "url", "test", "commit"})
"""Names whose values are text even where they look like numbers."""

_NUMBER = re.compile(r"[+-]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_SIZE = re.compile(rf"({_NUMBER.pattern})\s*(bytes?|[KMGT]i?B|B)?")
_GIB = {"": 1.0, "b": 2**-30, "byte": 2**-30, "bytes": 2**-30, "k": 2**-20, "m": 2**-10, "g": 1.0, "t": 2.0**10}
_HOLDER = re.compile(
    rf"(?:Process\s+(?P<pid>\d+)|this\s+process)\s+has\s+(?P<size>{_SIZE.pattern})\s+memory\s+in\s+use", re.IGNORECASE
)


def captured(groups: Mapping[str, str | None]) -> dict[str, Captured]:
    """The named groups that took part in a match, by name.

    A name that ends in `_gib` holds a size: it is given in GiB whatever unit stood there, and GiB where none did.
    `holders` becomes a list of processes with their sizes, as text.
    """
    return {name: _value(name, text.strip()) for name, text in groups.items() if text and text.strip()}


def _value(name: str, text: str) -> Captured:
    if name.endswith("_gib"):
        return _gib(text)
    if name == "holders":
        return "; ".join(
            f"{found['pid'] or 'this process'}: {_gib(found['size'])} GiB" for found in _HOLDER.finditer(text)
        )
    return text if name in _TEXT else _number(text)


def _number(text: str) -> Captured:
    if not _NUMBER.fullmatch(text):
        return text
    plain = text.replace(",", "")
    return int(plain) if plain.lstrip("+-").isdigit() else float(plain)


def _gib(text: str) -> Captured:
    found = _SIZE.fullmatch(text)
    if found is None:
        return text
    unit = (found.group(2) or "").lower()
    scale = _GIB.get(unit) or _GIB[unit[0]]
    return round(float(found.group(1).replace(",", "")) * scale, 4)
