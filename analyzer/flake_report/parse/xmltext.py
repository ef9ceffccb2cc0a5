"""Text of an XML document as it is written: what may not stand in it, and references resolved.

References are the five names and characters by number; others exist only by a document type, which is not read.
"""

from __future__ import annotations

import re

_NAMED = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'"}
_NOT_NAMED = re.compile("&(?!(?:[lg]t|amp|quot|apos);)")
_NUMBER = re.compile(r"&#(?:([0-9]{1,7})|x([0-9a-fA-F]{1,6}));")
_REFERENCE = re.compile(r"&(?:[lg]t|amp|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});")


def flaw(text: str) -> str:
    """What is wrong with the references in a piece of text or of attributes; empty where nothing is."""
    if "&" in text:
        for found in _NOT_NAMED.finditer(text):
            number = _NUMBER.match(text, found.start())
            if number is None:
                return "`&` that begins no reference XML knows"
            if not _allowed(_code(number)):
                return "a reference to a character that XML does not allow"
    return ""


def flaw_of_content(text: str) -> str:
    """The same for text between tags, where the end of a CDATA section may not stand either."""
    if ">" in text and "]]>" in text:
        return "`]]>` in text"
    return flaw(text)


def plain(text: str) -> str:
    """Text with its references resolved; unknown ones stay as they are written."""
    return _REFERENCE.sub(_resolved, text) if "&" in text else text


def attribute(written: str) -> str:
    """An attribute's value: white space written as such is a space, says XML; that from a reference stays."""
    if "\n" in written or "\t" in written:
        written = written.replace("\n", " ").replace("\t", " ")
    return plain(written)


def _resolved(reference: re.Match[str]) -> str:
    named = _NAMED.get(reference[0])
    if named is not None:
        return named
    number = _NUMBER.match(reference[0])
    code = _code(number) if number else 0
    return chr(code) if _allowed(code) or 0 < code < 0x20 else "\ufffd"


def _code(number: re.Match[str]) -> int:
    return int(number[1]) if number[1] else int(number[2], 16)


def _allowed(code: int) -> bool:
    """Whether XML 1.0 has this character (production 2)."""
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
