"""Fields of JSON objects that others wrote: the value where it has the right type; what has not is remembered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from .junit_values import moment

_LARGEST = 2**63  # what a column of 64 bits holds


def value_of(text: bytes | str) -> Any:
    """A JSON value; None for what is none, which no file read here has for a value."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class Fields:
    """One object. An absent field reads as empty or None; so does one of the wrong type, whose name goes to `wrong`."""

    __slots__ = ("_source", "wrong")

    def __init__(self, source: Mapping[str, Any]) -> None:
        self._source = source
        self.wrong: list[str] = []

    def has(self, *keys: str) -> bool:
        return all(key in self._source for key in keys)

    def text(self, key: str) -> str:
        value = self._source.get(key, "")
        if isinstance(value, str):
            return value
        self.wrong.append(key)
        return ""

    def whole(self, key: str) -> int | None:
        """An integer that is not negative."""
        value = self._source.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST:
            return value
        self._miss(key)
        return None

    def number(self, key: str) -> float | None:
        """A number that is not negative."""
        value = self._source.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _LARGEST:
            return float(value)
        self._miss(key)
        return None

    def time(self, key: str) -> datetime | None:
        read = moment(self.text(key))
        if read is None and key not in self.wrong:
            self._miss(key)
        return read

    def object(self, key: str) -> Fields:
        value = self._source.get(key, {})
        if not isinstance(value, dict):
            self._miss(key)
            return Fields({})
        return Fields(value)

    def objects(self, key: str) -> list[Fields]:
        """The objects in a list; what is no object in it is left out."""
        value = self._source.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self._miss(key)
        return [Fields(one) for one in value if isinstance(one, dict)] if isinstance(value, list) else []

    def texts(self, key: str) -> list[str]:
        """The strings in a list."""
        value = self._source.get(key, [])
        return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

    def flag(self, key: str) -> bool:
        """Whether it says true, in so many words."""
        return self._source.get(key) is True

    def wholes(self, key: str) -> list[int]:
        """The integers in a list, none of them negative."""
        value = self._source.get(key, [])
        found = (
            [one for one in value if isinstance(one, int) and not isinstance(one, bool)]
            if isinstance(value, list)
            else []
        )
        return [one for one in found if 0 <= one < _LARGEST]

    def _miss(self, key: str) -> None:
        if key in self._source:
            self.wrong.append(key)
