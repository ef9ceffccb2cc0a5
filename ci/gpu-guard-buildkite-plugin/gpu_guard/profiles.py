"""What each test asks of a GPU, in a table: `profiles.json`, and a file of the user's own in the same form.

    {"schema": "gpu-guard-profiles/1",
     "profiles": {"my-test": {"about": "...", "ceiling": 0.3, "floor": 0.1, "need_gib": 3.5,
                              "engine": {"max_num_seqs": 1}, "environment": {"NAME": "text"}}}}

Utilizations are shares of a card, above 0 and at most 1; `need_gib` is the least that the engine can run with, in
GiB of one card. Only `ceiling` must be there. A profile of the user's stands before one of the same name here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

from .budget import GIB, Want

SCHEMA = "gpu-guard-profiles/1"
SHIPPED = Path(__file__).with_name("profiles.json")

Value = Union[bool, int, float, str]

_KEYS = ("about", "ceiling", "floor", "need_gib", "engine", "environment")
_MOST_SHOWN = 60  # characters of a wrong value
_LARGEST_CARD = 4096  # GiB: more is a mistake in the unit
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ARGUMENT = re.compile(r"[a-z][a-z0-9_]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ProfileError(Exception):
    """Profiles that cannot be used; `mistakes` has a sentence for each thing that is wrong."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("; ".join(mistakes))
        self.mistakes = mistakes


@dataclass(frozen=True)
class Profile:
    """One row of the table. `engine` holds vLLM's own arguments by name, `environment` what the job's command gets."""

    name: str
    ceiling: float
    floor: Optional[float] = None
    need_gib: float = 0.0
    engine: Mapping[str, Value] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    about: str = ""

    def want(self, utilization: Optional[float] = None, min_free: int = 0) -> Want:
        """What the budget is asked; `utilization` stands in for the ceiling where the pipeline gives one."""
        ceiling = self.ceiling if utilization is None else utilization
        return Want(ceiling, self.floor, round(self.need_gib * GIB), min_free)


def load(file: Optional[Path] = None) -> dict[str, Profile]:
    """The profiles that ship with the guard, and those of `file`. Raise ProfileError where a file is not right."""
    found = read(SHIPPED.read_text(encoding="utf-8"), SHIPPED.name)
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else _unreadable(error)
            raise ProfileError([f"{file}: the profiles cannot be read: {reason}"]) from error
        found.update(read(text, str(file)))
    return found


def pick(name: str, file: Optional[Path] = None) -> Profile:
    """One profile by its name. Raise ProfileError where there is none, naming the nearest."""
    known = load(file)
    if name not in known:
        where = f"; add it to {file}" if file is not None else "; a file of your own adds more"
        raise ProfileError([f"no profile is named {name!r}{_nearest(name, list(known))}: {_listed(known)}{where}"])
    return known[name]


def read(text: str, name: str) -> dict[str, Profile]:
    """The profiles in a text; `name` is the file's, for messages. Raise ProfileError with every mistake at once."""
    mistakes: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        mistakes.extend(f"{key!r} stands twice in one object" for key in dict.fromkeys(keys) if keys.count(key) > 1)
        return dict(pairs)

    try:
        table = json.loads(text, object_pairs_hook=unique)
    except ValueError as error:
        raise ProfileError([f"{name}: this is no JSON: {error}"]) from error
    except RecursionError as error:
        raise ProfileError([f"{name}: this is no table of profiles: it is nested too deeply"]) from error
    rows = _rows(table, mistakes)
    for row, fields in rows.items():
        mistakes += [f"profile {row!r}: {mistake}" for mistake in _mistakes(row, fields)]
    if mistakes:
        raise ProfileError([f"{name}: {mistake}" for mistake in mistakes])
    return {row: _profile(row, fields) for row, fields in rows.items()}


def _rows(table: Any, mistakes: list[str]) -> dict[str, Any]:
    if not isinstance(table, dict):
        mistakes.append('this is no table of profiles: it starts with {"schema": ..., "profiles": {...}}')
        return {}
    if table.get("schema") != SCHEMA:
        mistakes.append(f'"schema" must be {SCHEMA!r}, not {_shown(table.get("schema"))}')
    mistakes.extend(_unknown(table, ("schema", "profiles")))
    rows = table.get("profiles")
    if not isinstance(rows, dict):
        mistakes.append('"profiles" must be an object: name of a profile -> its settings')
        return {}
    return rows


def _mistakes(name: str, fields: Any) -> list[str]:
    if not isinstance(fields, dict):
        return ['must be an object, such as {"ceiling": 0.3}']
    found = [] if _NAME.fullmatch(name) else ["a name is made of letters, digits, '.', '_' and '-'"]
    found += _unknown(fields, _KEYS)
    if "ceiling" not in fields:
        found.append('"ceiling" is missing: the utilization that the test would like')
    for key in ("ceiling", "floor"):
        if key in fields and not _between(fields[key], 1):
            found.append(f'"{key}" must be a number above 0 and at most 1, not {_shown(fields[key])}')
    if _between(fields.get("ceiling"), 1) and _between(fields.get("floor"), 1) and fields["floor"] > fields["ceiling"]:
        found.append(f'"floor" {fields["floor"]} is above "ceiling" {fields["ceiling"]}')
    if "need_gib" in fields and not _between(fields["need_gib"], _LARGEST_CARD):
        found.append(f'"need_gib" must be GiB of one card, a number above 0, not {_shown(fields["need_gib"])}')
    if not isinstance(fields.get("about", ""), str):
        found.append('"about" must be a text')
    return found + _engine_mistakes(fields.get("engine", {})) + _environment_mistakes(fields.get("environment", {}))


def _engine_mistakes(engine: Any) -> list[str]:
    if not isinstance(engine, dict):
        return ['"engine" must be an object: argument of vLLM -> value']
    found = []
    for key, value in engine.items():
        if not _ARGUMENT.fullmatch(key):
            found.append(f'"engine": {key!r} is no argument of vLLM: write it as Python does, such as max_num_seqs')
        elif key == "gpu_memory_utilization":
            found.append('"engine": gpu_memory_utilization is what "ceiling" and "floor" are for')
        elif not isinstance(value, (bool, int, float, str)):
            found.append(f'"engine": {key} must be a number, a text, true or false, not {_shown(value)}')
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and not 0 < value < float("inf"):
            found.append(f'"engine": {key} must be above 0, not {_shown(value)}')
    return found


def _environment_mistakes(environment: Any) -> list[str]:
    if not isinstance(environment, dict):
        return ['"environment" must be an object: variable -> text']
    found = []
    for key, value in environment.items():
        if not _VARIABLE.fullmatch(key):
            found.append(f'"environment": {key!r} is no name of a variable')
        elif not isinstance(value, str) or "\0" in value:
            found.append(f'"environment": {key} must be a text in quotes, not {_shown(value)}')
    return found


def _profile(name: str, fields: dict[str, Any]) -> Profile:
    return Profile(name=name, **fields)


def _between(value: Any, most: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= most


def _unknown(fields: Mapping[str, Any], known: tuple[str, ...]) -> list[str]:
    return [f"{json.dumps(key)} is not known{_nearest(key, list(known))}" for key in fields if key not in known]


def _nearest(name: str, known: list[str]) -> str:
    import difflib  # noqa: PLC0415  # only a mistake pays for it

    near = difflib.get_close_matches(name, known, n=1)
    return f"; {near[0]!r} is meant?" if near else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"


def _unreadable(error: ValueError) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else "this is no name of a file"


def _listed(known: Mapping[str, object]) -> str:
    return "there are " + ", ".join(sorted(known))
