"""What is known of a store itself, and what its upkeep did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableSize:
    """One kind of row: how many are stored, superseded ones among them, in how many files of how many bytes."""

    rows: int
    superseded: int
    files: int
    size: int


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A store in numbers. `version` counts its commits; `weeks` are those that hold rows, oldest first.

    `readers` are what its jobs were read with, each combination of parser, signatures and fingerprint with the number
    of its jobs: where there are several, ingesting the archive again makes them one.
    """

    path: str
    layout: int
    version: int
    tables: Mapping[str, TableSize]
    weeks: tuple[str, ...]
    readers: Mapping[tuple[str, str, str], int]
    unnamed: int
    unnamed_size: int


@dataclass(frozen=True, slots=True)
class Check:
    """One promise of the store that was looked at: what it says, and what breaks it, each in one line."""

    promise: str
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did: files read and written, and superseded rows left behind."""

    files_before: int = 0
    files_after: int = 0
    rows_dropped: int = 0

    def __add__(self, other: Compacted) -> Compacted:
        return Compacted(
            self.files_before + other.files_before,
            self.files_after + other.files_after,
            self.rows_dropped + other.rows_dropped,
        )


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """Files that no commit names any more and that were taken away, or would be; sizes in bytes."""

    files: int
    size: int
