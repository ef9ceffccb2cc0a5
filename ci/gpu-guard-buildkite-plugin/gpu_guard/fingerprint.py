"""The fingerprint of a failure, version 1, as the recorder writes it.

The analyzer has the same rule in its own words; `fingerprint.cases.json` beside this file is the table that both are
tested with. A change of what any case gives is a new version on both sides.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

VERSION = "1"

LONGEST = 2000  # characters of the line that count

_ESCAPES = re.compile(
    r"(?:\x1b|\^\[)"
    r"(?:\[[0-9;?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|[\]_][^\x07\x1b]*(?:\x07|\x1b\\)"  # links, stamps
    r"|\([A-Z0-9])"  # character sets
)
_CUT = ("…", "...")
_WRAPPERS = (
    r"See root cause above",
    r"please check the stack trace above",
    r"See stack trace for the root cause",
    r"Engine core initialization failed",
    r"EngineCore failed to start",
    r"EngineCore encountered",
    r"Engine process failed to start",
    r"WorkerProc (?:failed|initialization failed|hit an exception)",
    r"Worker proc \S+ died unexpectedly",
    r"Engine core proc \S+ died unexpectedly",
    r"Executor failed\.?$",
    r"Server exited unexpectedly",
    r"RPC call to \S+ timed out",
    r"[Tt]est subprocess failed",
)
_WRAPPER = re.compile("|".join(_WRAPPERS))

_H = "[0-9a-fA-F]"
_IPV4 = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\.\d)(?::\d{1,5})?(?!\w)"
_IPV6_FORMS = (
    f"(?:{_H}{{1,4}}:){{7}}{_H}{{1,4}}",
    f"(?:{_H}{{1,4}}:){{1,6}}(?::{_H}{{1,4}}){{1,6}}",
    f"(?:{_H}{{1,4}}:){{1,7}}:",
    f"::(?:{_H}{{1,4}}:){{0,6}}{_H}{{1,4}}",
)
_IPV6 = "(?:" + "|".join(_IPV6_FORMS) + ")"
_IPV6_IN_BRACKETS = rf"\[(?:{_IPV6}|::)\](?::\d{{1,5}})?"
_IPV6_BARE = rf"(?<![\w:.])(?=[0-9a-fA-F:]*\d){_IPV6}(?![\w:])"

# What varies from run to run and what stands in its place, in the order in which it is masked.
_MASKS = (
    (re.compile(rf"(?<!\w){_H}{{8}}-(?:{_H}{{4}}-){{3}}{_H}{{12}}(?!\w)"), "#"),
    (re.compile(f"{_IPV4}|{_IPV6_IN_BRACKETS}|{_IPV6_BARE}"), "<ip>"),
    (re.compile(rf"0[xX]{_H}+"), "#"),
    (re.compile(rf"(?<![A-Za-z0-9_])(?=[a-fA-F]*\d)(?=\d*[a-fA-F]){_H}{{8,}}(?![A-Za-z0-9_])"), "#"),
    (re.compile(r"(?<![\w:/.~>\\-])(?:~|\.{1,2})?(?:/[\w.@+=%~-]+)*/([\w.@+=%~-]+)/?"), r"\1"),
    (re.compile(r"(?<!\w)[A-Za-z]:[\\/](?:[^\s\\/:*?\"'<>|]+[\\/])*([^\s\\/:*?\"'<>|]+)"), r"\1"),
    (re.compile(r"(?:(?<!\w)[-+])?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?"), "#"),
)


class Fingerprint(NamedTuple):
    """`hash` is 16 hex digits; `title` is the masked line, for people."""

    hash: str
    title: str


def fingerprint(text: str) -> Fingerprint | None:
    """The fingerprint of a failure message such as `ValueError: bad size 7`.

    None for an empty message, for one that was cut short, and for one that only reports that something else failed:
    these would call different failures the same.
    """
    line = _first_line(_ESCAPES.sub("", text))
    if not line or line.endswith(_CUT) or _WRAPPER.search(line):
        return None
    line = line[:LONGEST]
    for pattern, mask in _MASKS:
        line = pattern.sub(mask, line)
    title = " ".join(line.split())
    return Fingerprint(hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:16], title)


def _first_line(text: str) -> str:
    """The line that tells type and message; of a traceback, its last line at the margin."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    line = re.sub(r"^E\s{2,}", "", lines[0]).strip()
    if line.startswith("Traceback (most recent call last)"):
        told = [
            one for one in lines if not one[0].isspace() and not one.startswith("Traceback (most recent call last)")
        ]
        line = told[-1] if told else ""
    # pytest writes a bare assertion without its type
    return f"AssertionError: {line}" if line.startswith("assert ") else line
