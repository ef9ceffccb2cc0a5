"""Bytes to text: byte-order marks, declared encodings that are right, wrong or unknown, and bytes that fit none."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from . import limits
from .controls import has_controls
from .problems import Problems

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins the same
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# "<" and a zero byte: a document without a mark, as the XML recommendation's appendix F tells them apart.
_UNMARKED = ((b"<\0\0\0", "utf-32-le"), (b"\0\0\0<", "utf-32-be"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z][\w.:-]{0,40})["']""")
# Only encodings of text; codecs has others, some of which do harm.
_TEXT = re.compile(
    r"utf[-_]?8|(us[-_]?)?ascii|iso[-_]?8859[-_]\d{1,2}|latin[-_]?\d{1,2}|(windows[-_]?|cp)\d{3,4}|koi8[-_][rut]"
    r"|shift[-_]?jis|euc[-_](jp|kr)|gb(2312|k|18030)|big5|mac[-_]?roman",
    re.IGNORECASE,
)
_WIDE = re.compile(r"utf[-_]?(16|32)([-_]?[lb]e)?|ucs[-_]?[24]", re.IGNORECASE)
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_FALLBACK = "flake-report-latin-1"


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not the encoding they claim are mostly Latin-1: read so, names stay readable and apart."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_FALLBACK, _as_latin_1)


def blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks of one size, however they came."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        start = 0
        while size + len(chunk) - start >= limits.BLOCK_BYTES:
            end = start + limits.BLOCK_BYTES - size
            yield b"".join([*held, chunk[start:end]])
            held, size, start = [], 0, end
        if start < len(chunk):
            held.append(chunk[start:])
            size += len(chunk) - start
    if held:
        yield b"".join(held)


def encoding_of(head: bytes, problems: Problems) -> str:
    """What the first block says of its encoding, where Python can read it; UTF-8 otherwise."""
    for mark, name in (*_MARKS, *_UNMARKED):
        if head.startswith(mark):
            return name
    declared = _DECLARED.match(head)
    name = declared[1].decode("ascii") if declared else "utf-8"
    if _WIDE.fullmatch(name):
        problems.note(f"declared as {name}, but each character is one byte: read as UTF-8")
        return "utf-8"
    try:
        return codecs.lookup(name).name if _TEXT.fullmatch(name) else _unknown(name, problems)
    except LookupError:
        return _unknown(name, problems)


def _unknown(name: str, problems: Problems) -> str:
    problems.note(f"unknown encoding {name}: read as UTF-8")
    return "utf-8"


def text_blocks(raw: Iterable[bytes], problems: Problems) -> Iterator[str]:
    """Blocks of bytes as text with the line ends of XML (line feed alone); what cannot be decoded is told."""
    decoder: codecs.IncrementalDecoder | None = None
    encoding, offset, ends_in_return = "", 0, False
    for block in raw:
        first = decoder is None
        if decoder is None:
            encoding = encoding_of(block, problems)
            decoder = codecs.getincrementaldecoder(encoding)("strict")
        state = decoder.getstate()
        try:
            text = decoder.decode(block)
        except UnicodeDecodeError as error:
            place = f"byte {offset + error.start:,} and later"
            problems.damage(f"bytes that are not {encoding}, read as Latin-1", place)
            decoder = codecs.getincrementaldecoder(encoding)(_FALLBACK)
            decoder.setstate(state)
            text = decoder.decode(block)
        if first:
            text = text.removeprefix("\ufeff")
        if ends_in_return:
            text = "\r" + text
        ends_in_return = text.endswith("\r")
        if ends_in_return:
            text = text[:-1]
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if has_controls(block) and (found := _FORBIDDEN.search(text)):
            # Wide encodings have zero bytes in most characters: only the text itself tells.
            problems.damage("characters that XML does not allow", f"about byte {offset + found.start():,}")
            text = text.replace("\0", "\ufffd")  # no later reader can hold it; others may be colours, and stay
        offset += len(block)
        yield text
    if decoder is not None:
        yield from _rest(decoder, ends_in_return=ends_in_return, problems=problems)


def _rest(decoder: codecs.IncrementalDecoder, *, ends_in_return: bool, problems: Problems) -> Iterator[str]:
    try:
        rest = decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        problems.damage("ends in the middle of a character")
        rest = ""
    yield ("\n" if ends_in_return else "") + rest
