"""Fields of JSON objects that others wrote: the value where it has the right type, None where it has not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from math import isfinite
from typing import Any

from .junit_values import moment

Object = Mapping[str, Any]
_LARGEST = 2**63  # what a column of 64 bits holds


def value_of(text: bytes | str) -> Any:
    """A JSON value; None for what is none, which no file read here has for a value."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def text(source: Object, key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""


def whole(source: Object, key: str) -> int | None:
    """An integer that is not negative."""
    value = source.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST else None


def number(source: Object, key: str) -> float | None:
    """A number that is not negative."""
    value = source.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value) or value < 0:
        return None
    return float(value)


def time(source: Object, key: str) -> datetime | None:
    return moment(text(source, key))


def objects(source: Object, key: str) -> list[Object]:
    """The objects in a list; what is no object in it, or no list, is left out."""
    value = source.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
