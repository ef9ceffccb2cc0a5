"""`flake-report.toml`: text in, validated settings out, every mistake named at once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

from .errors import FlakeReportError
from .model.config import CollectConfig, Config, OwnersConfig, QueueConfig, RatesConfig, StoreConfig
from .model.evidence import LogMode

_LONGEST_SPAN = timedelta(days=3660)
_DEAREST = 1e6
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what it is for, the value it takes, as words for a person, and how to read it.

    `read` raises ValueError for a value that is not of that kind.
    """

    section: str
    key: str
    takes: str
    default: str
    meaning: str
    read: Callable[[object], Any]

    @property
    def name(self) -> str:
        """As people write it: section and key."""
        return f"[{self.section}] {self.key}"


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def span(value: object) -> timedelta:
    """A length of time written as `36h`, `14d` or `4w`, up to ten years; anything else raises ValueError."""
    found = re.fullmatch(r"(\d{1,5})([hdw])", value) if isinstance(value, str) else None
    if not found:
        raise ValueError
    length = timedelta(**{_UNITS[found[2]]: int(found[1])})
    if not timedelta() < length <= _LONGEST_SPAN:
        raise ValueError
    return length


def share(value: object) -> float:
    """A part of a whole written as `80%` or `0.5%`, above nothing, at most all; anything else raises ValueError."""
    found = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?)%", value) if isinstance(value, str) else None
    if not found or not 0 < float(found[1]) <= 100:
        raise ValueError
    return float(found[1]) / 100


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError
    return value


def _price(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _DEAREST:
        raise ValueError
    return float(value)


def _mode(value: object) -> LogMode:
    return LogMode(_text(value))


def _patterns(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError  # noqa: TRY004  # the one error of these readers
    return tuple(_text(pattern) for pattern in value)


_SPAN = 'a span such as "36h", "14d", "4w"'
_DEFAULT_ARTIFACTS = ", ".join(f'"{pattern}"' for pattern in CollectConfig().artifacts)

SETTINGS = (
    Setting(
        "collect", "archive", "text", '"flake-report-archive"', "The archive: a folder, or a URL (s3, gs, az).", _text
    ),
    Setting(
        "collect", "logs", '"all" or "failed"', '"all"', "Of which jobs; without green ones rates lack runs.", _mode
    ),
    Setting(
        "collect", "artifacts", "a list of patterns", f"[{_DEFAULT_ARTIFACTS}]", "Which artifacts, by path.", _patterns
    ),
    Setting("collect", "branch", "text", "every branch", "The branch to collect; `*` matches.", _text),
    Setting("collect", "since", _SPAN, '"14d"', "Back from now.", span),
    Setting(
        "collect", "budget", 'a share such as "80%"', '"80%"', "Of each rate limit; the rest is for others.", share
    ),
    Setting("store", "path", "text", '"flake-report-store"', "The store: a folder, or a URL (s3, gs, az).", _text),
    Setting("rates", "branch", "text", "every branch", "The branch whose builds count; `*` and `?` match.", _text),
    Setting("rates", "since", _SPAN, "all", "Back from the newest build.", span),
    Setting("rates", "budget", 'a share such as "0.5%"', '"0.5%"', "The failure rate that a test may have.", share),
    Setting("queues.NAME", "gpus", "a number", "1", "GPUs of one agent of the queue NAME; 0 for CPU queues.", _count),
    Setting(
        "queues.NAME", "price_per_hour", "a number", "no price", "Of one agent, all its GPUs; any currency.", _price
    ),
    Setting("queues.NAME", "gpu_type", "text", "unknown", "The kind of GPU, such as L4: joins queues in rates.", _text),
    Setting(
        "owners", "PATTERN", "text", "nobody", "Owner of the tests, or test files, that match; the last counts.", _text
    ),
    Setting("owners", "codeowners", "text", "where GitHub looks", "The CODEOWNERS file for all other tests.", _text),
)
"""Every setting there is; the README's table is tested against this."""

_NAMED = ".NAME"
"""Ends a section that stands for any number of tables, each with a name that the user chose."""
_SECTIONS = tuple(dict.fromkeys(setting.section for setting in SETTINGS))
_TABLES = tuple(section.removesuffix(_NAMED) for section in _SECTIONS)
_TOP_LEVEL = {setting.key: setting.name for setting in SETTINGS} | {
    table: f"[{section}]" for table, section in zip(_TABLES, _SECTIONS, strict=True)
}


def parse_config(text: str, name: str) -> Config:
    """The settings in a TOML text; `name` says in errors which file it is.

    Raises one `FlakeReportError` that lists every unknown name, with the nearest known one, and every wrong value.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FlakeReportError(f"{name}: is no TOML: {error}; mend that place") from error
    mistakes: list[str] = []
    plain = [section for section in _SECTIONS if not section.endswith(_NAMED) and section != "owners"]
    values = {section: _section(section, tables.get(section, {}), mistakes) for section in plain}
    queues = _named("queues.NAME", tables.get("queues", {}), mistakes)
    owners = _owners(tables.get("owners", {}), mistakes)
    for section, table in tables.items():
        if section not in _TABLES:
            shown = f"[{section}]" if isinstance(table, Mapping) else section
            mistakes.append(_unknown(shown, section, _TOP_LEVEL))
    if mistakes:
        raise FlakeReportError(f"{name}: {'; '.join(mistakes)}")
    return Config(
        collect=CollectConfig(**values["collect"]),
        store=StoreConfig(**values["store"]),
        rates=RatesConfig(**values["rates"]),
        queues={name: QueueConfig(**given) for name, given in queues.items()},
        owners=owners,
    )


def _owners(table: object, mistakes: list[str]) -> OwnersConfig:
    """Every key but one is a pattern for tests: no name is unknown here."""
    given = dict(table) if isinstance(table, Mapping) else table
    codeowners = given.pop("codeowners", None) if isinstance(given, dict) else None
    known = _section("owners", {} if codeowners is None else {"codeowners": codeowners}, mistakes)
    if not isinstance(given, dict):
        mistakes.append(f"[owners] must be a table, not {table!r}")
        return OwnersConfig()
    for pattern, owner in given.items():
        if not isinstance(owner, str) or not owner.strip():
            mistakes.append(f"[owners] {pattern!r} takes the owner's name as text, not {owner!r}")
    return OwnersConfig(given, known.get("codeowners"))


def _named(section: str, tables: object, mistakes: list[str]) -> dict[str, dict[str, Any]]:
    """The values of each table below a section whose tables the user names."""
    shown = section.removesuffix(_NAMED)
    if not isinstance(tables, Mapping):
        mistakes.append(f"[{section}] must be a table, not {shown} = {tables!r}")
        return {}
    return {name: _section(section, table, mistakes, shown=f"{shown}.{name}") for name, table in tables.items()}


def _section(section: str, table: object, mistakes: list[str], *, shown: str = "") -> dict[str, Any]:
    """The readable values of one table; what is wrong with the others is added to `mistakes`."""
    shown = shown or section
    if not isinstance(table, Mapping):
        mistakes.append(f"[{shown}] must be a table, not {table!r}")
        return {}
    settings = {setting.key: setting for setting in SETTINGS if setting.section == section}
    values = {}
    for key, value in table.items():
        if key not in settings:
            mistakes.append(_unknown(f"[{shown}] {key}", key, {known: known for known in settings}))
            continue
        try:
            values[key] = settings[key].read(value)
        except ValueError:
            mistakes.append(f"[{shown}] {key} takes {settings[key].takes}, not {value!r}")
    return values


def _unknown(shown: str, word: str, known: Mapping[str, str]) -> str:
    """`known` maps each word that would have been right to how it is shown."""
    [nearest] = get_close_matches(word, known, n=1, cutoff=0.0)
    return f"{shown} is unknown; the nearest is {known[nearest]}"
