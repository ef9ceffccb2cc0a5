"""References in XML text: the five names, and characters by number."""

from __future__ import annotations

import re

_LONE = re.compile(r"&(?!(?:lt|gt|amp|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_REFERENCE = re.compile(r"&#(?:([0-9]{1,7})|x([0-9a-fA-F]{1,6}));")


def flaw(text: str) -> str:
    """What is wrong with the references in a text; empty where nothing is."""
    if "&" not in text:
        return ""
    if _LONE.search(text):
        return "`&` that begins no reference XML knows"
    if "&#" in text and any(not _allowed(_code(one)) for one in _REFERENCE.finditer(text)):
        return "a reference to a character that XML does not allow"
    return ""


def plain(text: str) -> str:
    """Text with its references resolved; unknown ones stay as they are written."""
    if "&" not in text:
        return text
    if "&#" in text:
        text = _REFERENCE.sub(_character, text)
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
    return text.replace("&amp;", "&")


def _character(reference: re.Match[str]) -> str:
    code = _code(reference)
    if code == ord("&"):
        return "&amp;"  # resolved with the rest, so that it is not taken for the start of another
    return chr(code) if _allowed(code) or 0 < code < 0x20 else "\ufffd"


def _code(reference: re.Match[str]) -> int:
    return int(reference[1]) if reference[1] else int(reference[2], 16)


def _allowed(code: int) -> bool:
    """Whether XML 1.0 has this character (production 2)."""
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
