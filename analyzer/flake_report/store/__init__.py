"""The store: Delta Lake underneath, counting SQL on top.

How far it goes. An attempt takes some 12 bytes of a full file, ids, names and messages included, as names repeat;
counting it takes some 0.8 microseconds of one core, once, as a week that did not change is not counted again (see
`rollups`).

10^9 attempts, five years of a large CI, are 12 GB in 2,000 full files. DuckDB on one machine is the engine: the first
count takes a quarter of an hour of one core, in some 3 GB of memory (see `duck`). The first thing to hurt is
reading all jobs (20 million rows, some seconds) for each question without a window to a changed store; the next is the
answer, which is made into Python's objects: for 50,000 variants with failures seconds and a gigabyte. Ask for a step, a
queue or the last weeks then, or read the tables with SQL.

10^11 attempts are 1.2 TB in 200,000 files, and Spark is the engine, with the same statements: at ten times DuckDB's
processor time the first count is some 20 hours of 32 cores, and a week of 10^9 attempts a shuffle of some 100 GB. The
layout needs two changes: weeks parted again, by pipeline, so that one file list stays short, and checkpoints further
apart than ten commits, as each names every file (some 50 MB). Of writers one wins at a time, so some ten commits a
second are the most in a folder, fewer in a bucket: jobs must then share commits, as they do when an archive is
ingested. What lies beyond must be counted where jobs end, and attempts be kept for questions about single tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake_report.model.record import IngestCounts

if TYPE_CHECKING:
    from .store import Store

__all__ = ["IngestCounts", "Store"]


def __getattr__(name: str) -> object:
    # An executor of Spark writes files and counts nothing: it need not load an engine.
    if name == "Store":
        from . import store  # noqa: PLC0415

        return store.Store
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
