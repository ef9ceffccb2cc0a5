"""What a file seems to be, from its first bytes."""

from __future__ import annotations

import re
from enum import Enum


class Shape(Enum):
    """How to read a file."""

    XML = "xml"
    ATTEMPTS = "attempts"
    LIST = "list"
    OTHER = "other"


_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x89PNG", "png"),
    (b"%PDF", "pdf"),
)
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<", b"\0\0\xfe\xff", b"\0\0\0<")
_SPACE = b" \t\r\n\x0b\x0c"
_HEAD = 64 * 1024  # other output may come before a report
_MARK_UTF8 = b"\xef\xbb\xbf"
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
# A report after other output, as when both went to one file.
_EMBEDDED = re.compile(rb"<\?xml\s|<testsuites?[\s>]|<testcase\s")
_TAP = re.compile(rb"(?:TAP version \d+|1\.\.\d+|(?:not )?ok \d+\b)")
_GO_EVENTS = re.compile(rb'\{"(?:Time|Action)":')
_ATTEMPTS = re.compile(rb'\{\s*"(?:schema|nodeid|finished_at)"\s*:|[^\n]{0,4000}"gpu-guard-attempts/')


def shape_of(head: bytes) -> tuple[Shape, str]:
    """How to read a file that begins so, and the name of what it seems to be where it is no XML."""
    if head.startswith((b"<?xml ", b"<testsuite")):  # what a report is, mostly
        return Shape.XML, ""
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return Shape.OTHER, name
    if head.startswith(_WIDE_MARKS):
        return Shape.XML, ""
    text = head.lstrip(_SPACE)[:_HEAD].removeprefix(_MARK_UTF8).lstrip(_SPACE)
    return _TEXTS.get(text[:1], _prose)(text)


def _markup(text: bytes) -> tuple[Shape, str]:
    return (Shape.OTHER, "html") if _HTML.match(text) else (Shape.XML, "")


def _list(_text: bytes) -> tuple[Shape, str]:
    return Shape.LIST, ""


def _object(text: bytes) -> tuple[Shape, str]:
    if _ATTEMPTS.match(text):
        return Shape.ATTEMPTS, ""
    return Shape.OTHER, "go test events" if _GO_EVENTS.match(text) else "json"


def _prose(text: bytes) -> tuple[Shape, str]:
    if not text.strip(b"\0"):
        return Shape.OTHER, "empty"
    if _EMBEDDED.search(text):
        return Shape.XML, ""
    return Shape.OTHER, "tap" if _TAP.match(text) else "unknown"


_TEXTS = {b"<": _markup, b"{": _object, b"[": _list}
