"""Text from strangers in Markdown, as GitHub and Buildkite render it: it stays text, whatever it is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flake_report.model.words import spelt

from .words import one_line

SHOWN = 300
"""Characters of one text that are shown; a message of megabytes says no more."""

_SPECIAL = re.compile(
    r"""[&<>"'|`*\[\]\\~@#!$^{}+]|:(?!\s|$)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=www)\.""", re.IGNORECASE
)
"""What Markdown, HTML, autolinks, emoji and mentions are made of; `_` inside a word makes nothing."""

_BLOCK = re.compile(r"[-=]|\d+[.)](?:\s|$)")
"""What makes a list or a heading at the beginning of a line."""

_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[A-Za-z0-9._/-]*)?(?:#[A-Za-z0-9._-]*)?|#[A-Za-z0-9-]+")


def code(text: str, shown: int = SHOWN) -> str:
    """The text as code: on one line, cut after `shown` characters, and with hidden characters spelt out.

    The element keeps GitHub from calling the people and issues that a name seems to mention; what is special stands
    as entities, so that it holds in a table, too.
    """
    line = spelt(one_line(text))
    if len(line) > shown:
        line = line[: shown - 1] + "…"
    return f"<code>{_SPECIAL.sub(_entity, line)}</code>"


def plain(text: str) -> str:
    """The same for our own sentences, which may quote a name: no code, and not cut."""
    line = _SPECIAL.sub(_entity, spelt(one_line(text)))
    return _entity_of(line[0]) + line[1:] if _BLOCK.match(line) else line


def _entity(found: re.Match[str]) -> str:
    return _entity_of(found[0])


def _entity_of(char: str) -> str:
    return f"&#{ord(char)};"


def link(words: str, address: str | None) -> str:
    """A link to an address on the web or a place of this page; only the words where it is neither."""
    return f"[{words}]({address})" if address and _ADDRESS.fullmatch(address) else words


def fitted(head: str, sections: Iterable[tuple[str, Sequence[str]]], tail: str, limit: int, most: int) -> str:
    """A page of at most `limit` bytes: head, sections with a heading and items each, and tail, which always stand.

    Of a section at most `most` items are shown, and of all those that find room; what is left out is counted in its
    place. Earlier sections find room first.
    """
    parts = [(heading, list(items)) for heading, items in sections if items]
    room = limit - len(f"{head}\n{tail}\n".encode()) - sum(_size(heading) + _MORE for heading, _ in parts)
    pages = [head]
    for heading, items in parts:
        shown = []
        for item in items[:most]:
            room -= _size(item)
            if room < 0:
                break
            shown.append(item)
        room = max(room, 0)
        left = len(items) - len(shown)
        pages.append("\n".join([heading, *shown, *([f"- … {left:,} more"] if left else []), ""]))
    return "\n".join([*pages, tail]).strip() + "\n"


_MORE = 40
"""Bytes of the line that counts what was left out."""


def _size(text: str) -> int:
    return len(text.encode()) + 4
