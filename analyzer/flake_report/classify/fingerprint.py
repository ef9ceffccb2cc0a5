"""The fingerprint of a failure: the same unknown failure has the same one in every build.

Version 1. Of the exception's type and the first line of its message, what varies from run to run is masked; the
masked line is the title, its hash the fingerprint. The recorder makes the same of what it sees (gpu_guard,
`fingerprint.cases.json` is the table that both are tested with), so a change of any rule is a new version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

VERSION = "1"

_LONGEST = 2000
"""Characters of the line that count."""

_ESCAPE = re.compile(r"(?:\x1b|\^\[)(?:\[[0-9;?]*[ -/]*[@-~]|[\]_][^\x07\x1b]*(?:\x07|\x1b\\)|\([A-Z0-9])")
_TRACEBACK = "Traceback (most recent call last)"
_CUT = ("…", "...")
_WRAPPER = re.compile(
    r"See root cause above|please check the stack trace above|See stack trace for the root cause"
    r"|Engine core initialization failed|EngineCore failed to start|EngineCore encountered"
    r"|Engine process failed to start|WorkerProc (?:failed|initialization failed|hit an exception)"
    r"|Worker proc \S+ died unexpectedly|Engine core proc \S+ died unexpectedly"
    r"|Executor failed\.?$|Server exited unexpectedly|RPC call to \S+ timed out|[Tt]est subprocess failed"
)

_HEX = "[0-9a-fA-F]"
_UUID = re.compile(rf"(?<!\w){_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}(?!\w)")
_V4 = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\.\d)(?::\d{1,5})?(?!\w)"
_V6 = (
    rf"(?:(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}"
    rf"|(?:{_HEX}{{1,4}}:){{1,6}}(?::{_HEX}{{1,4}}){{1,6}}"
    rf"|(?:{_HEX}{{1,4}}:){{1,7}}:"
    rf"|::(?:{_HEX}{{1,4}}:){{0,6}}{_HEX}{{1,4}})"
)
_ADDRESS = re.compile(rf"{_V4}|\[(?:{_V6}|::)\](?::\d{{1,5}})?|(?<![\w:.])(?=[0-9a-fA-F:]*\d){_V6}(?![\w:])")
_POINTER = re.compile(rf"0[xX]{_HEX}+")
_LONG_HEX = re.compile(rf"(?<![A-Za-z0-9_])(?=[a-fA-F]*\d)(?=\d*[a-fA-F]){_HEX}{{8,}}(?![A-Za-z0-9_])")
_POSIX_PATH = re.compile(r"(?<![\w:/.~>\\-])(?:~|\.{1,2})?(?:/[\w.@+=%~-]+)*/(?P<last>[\w.@+=%~-]+)/?")
_WINDOWS_PATH = re.compile(r"(?<!\w)[A-Za-z]:[\\/](?:[^\s\\/:*?\"'<>|]+[\\/])*(?P<last>[^\s\\/:*?\"'<>|]+)")
_NUMBER = re.compile(r"(?:(?<!\w)[-+])?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`hash` is 16 hex digits; `title` is the masked line, for people."""

    hash: str
    title: str


def fingerprint(text: str) -> Fingerprint | None:
    """The fingerprint of a failure message such as `ValueError: bad size 7`; None where it would mislead.

    Text that was cut short, and a wrapper that only reports that something else failed, have none.
    """
    line = _line(_ESCAPE.sub("", text) if "\x1b" in text or "^[" in text else text)
    if not line or line.endswith(_CUT) or _WRAPPER.search(line):
        return None
    title = _masked(line[:_LONGEST])
    return Fingerprint(sha256(title.encode("utf-8", "replace")).hexdigest()[:16], title)


def _line(text: str) -> str:
    """The line with the exception's type and message: the first, but of a whole traceback the last at the margin."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    first = re.sub(r"^E\s{2,}", "", lines[0]).strip()
    if first.startswith(_TRACEBACK):
        margin = [line for line in lines if not line[0].isspace() and not line.startswith(_TRACEBACK)]
        first = margin[-1] if margin else ""
    return f"AssertionError: {first}" if first.startswith("assert ") else first


def _masked(line: str) -> str:
    # What an expression cannot do without is looked for first: most lines have none of it, and failures come in crowds.
    line = _UUID.sub("#", line)
    if "::" in line or line.count(":") >= 7 or line.count(".") >= 3:
        line = _ADDRESS.sub("<ip>", line)
    line = _POINTER.sub("#", line)
    line = _LONG_HEX.sub("#", line)
    if "/" in line:
        line = _POSIX_PATH.sub(r"\g<last>", line)
    if ":/" in line or ":\\" in line:
        line = _WINDOWS_PATH.sub(r"\g<last>", line)
    line = _NUMBER.sub("#", line)
    return " ".join(line.split())
