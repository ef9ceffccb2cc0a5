"""One raw line of a log to the text that a person would read.

Sources of the forms: the agent's timestamper (`ESC _bk;t=<ms since 1970>BEL`, also after each erase-in-line), its
`timestamp-lines` mode (`[RFC 3339] `), Buildkite's inline images and links (OSC 1338, 1339), ECMA-48 for the rest.
"""

from __future__ import annotations

import re

OVERWRITTEN = " ␍ "
"""Stands between what a line shows at last and what was written there before a carriage return."""

_STRING = rb"[^\x07\x1b]*(?:\x07|\x1b\\)"
_ESCAPE = re.compile(
    rb"\x1b\](?:1338|1339);(?P<media>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    rb"|\x1b\[8mha:[^\x1b]*\x1b\[0m"  # Jenkins hides its console notes so
    rb"|(?P<column>\x1b\[[01]?G)"
    rb"|\x1b\[(?P<forward>\d*)C"
    rb"|\x1b\[[0-?]*[ -/]*[@-~]"
    rb"|\x1b[\]_P^X]" + _STRING + rb"|\x1b_bk;[\w=;]*"  # cut short: no terminator
    rb"|\x1b[\]_P^X]"  # a string that never ends: its text stays searchable
    rb"|\x1b[ -/]+[0-~]"  # character sets
    rb"|\x1b[0-~]"
    rb"|\x1b"
    rb"|\^\[\[[0-9;]*m"  # pasted from a viewer that shows ESC as ^[
    rb"|\^\[_bk;[\w=;]*\^G"
)
_CUT_STAMP = re.compile(rb"[_bkdt;=]{0,6}\d*\x07")
_MEDIA_TEXT = re.compile(rb"(?:^|;)(?:content|alt)=(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|((?:[^;\\]|\\.)*))")
_CONTROL = bytes(code for code in range(32) if code not in b"\t\r") + b"\x7f"
_MARKS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]|\^\[|\xef\xbb\xbf|\r")
_WIDEST_GAP = 200

_DATE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)"
_PREFIX = re.compile(
    rf"\[{_DATE}\](?: |$)"  # agent, timestamp-lines
    rf"|{_DATE}(?: (?:stdout|stderr) [FP])?(?: |$)"  # docker, Kubernetes, GitHub Actions
    r"|[A-Z][a-z]{2} [ \d]\d  ?\d\d:\d\d:\d\d(?:\.\d+)? "  # syslog
    r"|> (?=\S)|(?: {2,}|[\w.-]+[-_]\d+ +)\| "  # quotes, compose
)
_PROCESS = re.compile(
    r"\([A-Za-z]\w*(?: rank=\d+)? pid=\d+\) ?"
    r"|\[rank\d+\]: ?|\[Stage-\d+\] ?"
    r"|(?:TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)? "
    r"(?:\[[^\]\s]+:\d+\]|[\w./-]+:\d+\]) ?"
)


def clean(line: bytes) -> str:
    """The line without stamps, colours, escapes, control bytes and log collectors' prefixes; never raises.

    Where carriage returns overwrote text, the visible part comes first and the earlier parts follow in order,
    each behind `OVERWRITTEN`: a person sees the first, a search sees all. Invalid UTF-8 becomes U+FFFD.
    """
    raw = line.rstrip(b"\r\n\0")
    if _MARKS.search(raw) is None:
        return _without_prefix(raw.decode("utf-8", "replace")).rstrip()
    if b"\x07" in raw:
        raw = _CUT_STAMP.sub(b"", raw, count=1) if _CUT_STAMP.match(raw) else raw
    if b"\x1b" in raw or b"^[" in raw:
        raw = _ESCAPE.sub(_shown, raw)
    raw = raw.translate(None, _CONTROL).removeprefix(b"\xef\xbb\xbf")
    parts = [part for part in map(_readable, raw.split(b"\r")) if part]
    if len(parts) < 2:
        return parts[0] if parts else ""
    return OVERWRITTEN.join([parts[-1], *parts[:-1]])


def unprefix(text: str) -> str:
    """Clean text without the prefixes that name process, level, time and source file.

    Forms of vLLM 0.6 to 0.33: `(EngineCore pid=9) ERROR 01-02 03:04:05 [core.py:7] `, `[rank0]: `, `[Stage-1] `.
    """
    at = 0
    while (found := _PROCESS.match(text, at)) is not None:
        at = found.end()
    return text[at:]


def _shown(escape: re.Match[bytes]) -> bytes:
    """What stands on the screen for an escape: mostly nothing."""
    if escape["media"] is not None:
        text = _MEDIA_TEXT.search(escape["media"])
        return b"".join(part or b"" for part in text.groups()) if text else b""
    if escape["column"] is not None:
        return b"\r"
    if escape["forward"] is not None:
        return b" " * min(int(escape["forward"][:4] or b"1"), _WIDEST_GAP)
    return b""


def _readable(part: bytes) -> str:
    return _without_prefix(part.decode("utf-8", "replace")).rstrip()


def _without_prefix(text: str) -> str:
    at = 0
    while (found := _PREFIX.match(text, at)) is not None:
        at = found.end()
    return text[at:]
