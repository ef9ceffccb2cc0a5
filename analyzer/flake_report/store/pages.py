"""Finished texts, kept beside the store: a question asked again of a store that did not change is answered at once.

A page's name is a digest of all that decides its text: the names of all files of the state that is asked, the question,
which says how the text is written, too, and the program. Files never change, so a page can be unused, but never wrong;
each new state, question or program asks by another name. The state that gives the name is the one that the page is made
of, whatever others commit in between.

Pages lie among the rollups, and go as they do: those that were used least lately when there are many, and at vacuum.
A page is the text, compressed, behind a checksum (see `sealed`): one that is damaged is made anew. Where none can be
written, it is made each time; a store in a bucket, a small one, and one that Spark counts have none.

A kept page must cost little, so nothing here loads an engine before it is known that something must be counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard
from deltalake import DeltaTable

from flake_report.model.report import Page

from .delta import files, open_table
from .engine import DEFAULT, maker
from .program import program
from .rollups import FOLDER, KEPT_ROWS, drop_unused, named
from .root import Folder, located
from .sealed import content_of, put

if TYPE_CHECKING:
    from .store import Store

PAGE = "page-"
"""Begins the names of pages."""

PAGES = 32
"""Pages of one store, those of all its users: a question a terminal's width each."""

LARGEST = 8 << 20
"""Bytes of a page, compressed, that is still kept; all pages take at most 32 times as much."""


def page(path: str, engine: str, question: str, make: Callable[[Store], Page]) -> Page:
    """The page that `make` makes of the newest state of the store at `path`, or made before of the same state.

    `question` says all that decides the text, beside the state and the program. A page that found nothing is not kept.
    Raises `FlakeReportError` as `Store.open` does.
    """
    root = located(path)
    table = open_table(root)
    place = _place(root, table, question) if engine == DEFAULT and isinstance(root, Folder) else None
    if place and (text := _load(place)) is not None:
        return Page(text, found=True)
    from .store import Store  # noqa: PLC0415  # with all that counts: a kept page waits for none of it

    made = make(Store(root, table, maker(engine)))
    if place and made.found:
        _keep(place, made.text)
    return made


def _place(root: Folder, table: DeltaTable, question: str) -> Path | None:
    """Where the page of this question lies; None in a store that is too small to keep any."""
    found = files(root, table)
    if sum(file.rows for week in found.get("attempts", {}).values() for file in week) < KEPT_ROWS:
        return None
    names = sorted(file.name for weeks in found.values() for week in weeks.values() for file in week)
    return root.path / FOLDER / f"{named(PAGE, (program(), question, *names))}.sealed"


def _load(place: Path) -> str | None:
    """The text of a page; None where it is not there whole."""
    try:
        packed = content_of(place)
    except OSError:
        return None
    with suppress(OSError):
        os.utime(place)  # it is in use: see `rollups.sweep`
    return zstandard.ZstdDecompressor().decompress(packed).decode("utf-8", "surrogatepass")


def _keep(place: Path, text: str) -> None:
    packed = zstandard.ZstdCompressor().compress(text.encode("utf-8", "surrogatepass"))
    if len(packed) > LARGEST:
        return
    with suppress(OSError):
        put(place, packed)
        drop_unused(place.parent, PAGE, PAGES)
