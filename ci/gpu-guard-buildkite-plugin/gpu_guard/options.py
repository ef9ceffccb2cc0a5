"""The plugin's options: one table, from which come the schema in plugin.yml, the README's table, and the check here.

A job is refused with every mistake named at once: Buildkite's own check of a plugin's options is off by default.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional, Union

Value = Union[bool, int, float, str, None]

PLUGIN = "gpu-guard"
MOST_WAIT = 86_400
"""Seconds: a longer wait is a mistake in the unit."""


@dataclass(frozen=True)
class Option:
    """One option. `kind` is JSON Schema's word for its type; numbers lie above `above`, from `least`, up to `most`."""

    name: str
    kind: str
    meaning: str
    default: Value = None
    choices: tuple[str, ...] = ()
    above: Optional[int] = None
    least: Optional[int] = None
    most: Optional[int] = None

    def schema(self) -> dict[str, Any]:
        """What plugin.yml says of it."""
        limits = {
            "enum": list(self.choices) or None,
            "exclusiveMinimum": self.above,
            "minimum": self.least,
            "maximum": self.most,
            "minLength": 1 if self.kind == "string" and not self.choices else None,
        }
        return {"type": self.kind, **{key: value for key, value in limits.items() if value is not None}}

    def mistake(self, value: object) -> str:
        """What is wrong with a value, as the end of a sentence; empty where nothing is."""
        if self.choices:
            return "" if value in self.choices else f"must be {' or '.join(self.choices)}"
        if not _is(value, self.kind):
            return f"must be {_WORDS[self.kind]}"
        if isinstance(value, str):
            return "" if value else "must not be empty"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return ""
        below = (self.above is not None and value <= self.above) or (self.least is not None and value < self.least)
        if below or (self.most is not None and value > self.most):
            low = f"above {self.above}" if self.above is not None else f"{self.least} or more"
            return f"must be {low}" + (f" and at most {self.most}" if self.most is not None else "")
        return ""


OPTIONS = (
    Option("profile", "string", "settings of a known test, such as `nixl-hma`"),
    Option("profiles-file", "string", "a table of your own profiles, in the checkout"),
    Option("utilization", "number", "share of each GPU that the step's engine asks for", above=0, most=1),
    Option("min-free", "number", "GiB that must be free on each GPU", above=0, most=4096),
    Option("wait", "integer", "seconds to wait for memory before giving up", default=60, least=0, most=MOST_WAIT),
    Option("on-contention", "string", "too little memory: exit 75, or go on", "refuse", choices=("refuse", "warn")),
    Option("on-no-gpu", "string", "no GPU is visible: exit 2, or go on", "refuse", choices=("refuse", "pass")),
    Option("clean-own-leftovers", "boolean", "end what a finished job of this agent left on the GPUs", default=False),
    Option("record", "boolean", "record each attempt of each pytest test, and upload that", default=True),
    Option("annotate", "boolean", "put a note on the job when it left GPU memory in use", default=True),
    Option(
        "checkout-in-container", "string", "where the container sees the checkout, if the docker plugin does not say"
    ),
)
"""In the order in which people meet them. None stands for: not set."""

_WORDS = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false, without quotes",
}


class OptionsError(Exception):
    """Options that cannot be used; `mistakes` has a sentence for each thing that is wrong."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("; ".join(mistakes))
        self.mistakes = mistakes


@dataclass(frozen=True)
class Options:
    """The options of one step, validated, defaults filled in."""

    profile: Optional[str]
    profiles_file: Optional[str]
    utilization: Optional[float]
    min_free: Optional[float]
    wait: int
    on_contention: str
    on_no_gpu: str
    clean_own_leftovers: bool
    record: bool
    annotate: bool
    checkout_in_container: Optional[str]


def schema() -> dict[str, Any]:
    """The `configuration` of plugin.yml."""
    return {
        "properties": {option.name: option.schema() for option in OPTIONS},
        "additionalProperties": False,
    }


def from_environment(environ: Mapping[str, str]) -> Options:
    """The options that the agent hands to a hook. Raise OptionsError with every mistake at once.

    The agent gives them as JSON, unless one of them is null: then it gives nothing at all but the list of all plugins.
    """
    given = environ.get("BUILDKITE_PLUGIN_CONFIGURATION")
    if given is None:
        return read(_from_list(environ.get("BUILDKITE_PLUGINS", "")))
    try:
        return read(json.loads(given))
    except (ValueError, RecursionError) as error:
        raise OptionsError([f"BUILDKITE_PLUGIN_CONFIGURATION is no JSON: {error}"]) from error


def read(found: object) -> Options:
    """The options out of decoded JSON; None is a plugin without any. Raise OptionsError with every mistake at once."""
    fields = {} if found is None else found
    if not isinstance(fields, dict):
        raise OptionsError([f"the plugin's options must be a list of names and values, not {_shown(found)}"])
    known = {option.name: option for option in OPTIONS}
    mistakes = [f"{key}: there is no such option{_nearest(key, list(known))}" for key in fields if key not in known]
    for name, option in known.items():
        wrong = option.mistake(fields[name]) if name in fields else ""
        if wrong:
            mistakes.append(f"{name}: {wrong}, not {_shown(fields[name])}")
    if mistakes:
        raise OptionsError(mistakes)
    values: dict[str, Any] = {
        name.replace("-", "_"): fields.get(name, option.default) for name, option in known.items()
    }
    return Options(**{**values, "wait": int(values["wait"])})


def plugins(text: str) -> list[tuple[str, Any]]:
    """Name and options of each plugin in BUILDKITE_PLUGINS; empty where that is not what the agent writes."""
    try:
        entries = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []
    found: list[tuple[str, Any]] = []
    for entry in entries if isinstance(entries, list) else []:
        pairs = entry.items() if isinstance(entry, dict) else [(str(entry), None)]
        found += [(plugin_name(location), options) for location, options in pairs]
    return found


def plugin_name(location: str) -> str:
    """`docker` for `https://example.com/org/docker-buildkite-plugin.git#v5.2.0`: the last part, as the agent does."""
    last = location.partition("#")[0].rstrip("/").rpartition("/")[2].lower()
    return last.removesuffix(".git").removesuffix("-buildkite-plugin")


def _from_list(text: str) -> object:
    return next((options for name, options in plugins(text) if name == PLUGIN), None)


def _is(value: object, kind: str) -> bool:
    """JSON Schema's types: a whole number may be written 60.0, and true is no number."""
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, float):
        return math.isfinite(value) and (kind == "number" or value.is_integer())
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _nearest(name: str, known: list[str]) -> str:
    import difflib  # noqa: PLC0415  # only a mistake pays for it

    near = difflib.get_close_matches(name.replace("_", "-").lower(), known, n=1)
    return f"; {near[0]} is meant?" if near else ""
