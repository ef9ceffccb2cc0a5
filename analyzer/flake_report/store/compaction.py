"""Many small files into few, without the rows that newer ingests replaced.

Files are merged with others of about their size, so that each row is written again at most three times on its way to a
full file, however long the history gets: what an ingest costs does not grow with it.

Safe beside writers, readers and other compactions. The new files are written first; the commit then removes exactly
the files that were read, and what others added in the meantime stays. Where another compaction was quicker, its work
counts and this one's is thrown away. Readers that know the old files go on reading them until vacuum.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.transaction import AddAction, RemoveAction

from flake_report.model.upkeep import Compacted

from .delta import DataFile, Files, files
from .layout import file_schema
from .root import Root
from .superseded import Superseded
from .transaction import committed, discard, write_file

EVERY = 10
"""Commits between two looks for work; the writer of each tenth commit looks, so that never two do for one reason."""

FULL = 500_000
"""Rows of a file that is merged no more: large enough to read fast, and held in memory while it is made."""

_TIERS = (FULL // 100, FULL // 10, FULL)
_FAN = 10
"""Files of one tier, each below so many rows, that are worth merging."""

_TRIES = 1000
_LONGEST_PAUSE = 0.1  # seconds


class Pile(NamedTuple):
    """Files of one kind and week that become one, or as many as their rows fill."""

    week: str
    kind: str
    files: tuple[DataFile, ...]


class Merged(NamedTuple):
    """A pile, and the files that stand for it."""

    pile: Pile
    made: list[AddAction]
    dropped: int


def due(found: Files) -> list[Pile]:
    """What an ingest merges by itself: ten files of one tier."""
    piles = []
    for kind, week, inside in _places(found):
        tiers: list[list[DataFile]] = [[] for _ in (*_TIERS, FULL)]
        for file in inside:
            tiers[sum(file.rows >= limit for limit in _TIERS)].append(file)
        piles += [Pile(week, kind, tuple(tier)) for tier in tiers[:-1] if len(tier) >= _FAN]
    return sorted(piles)


def worthwhile(found: Files) -> list[Pile]:
    """All that can be merged, and all files with rows that no longer count."""
    superseded = Superseded(found)
    piles = []
    for kind, week, inside in _places(found):
        stale = {file for file in inside if superseded.count(kind, file)}
        chosen = tuple(file for file in inside if file in stale or file.rows < FULL // 2)
        if stale or len(chosen) > 1:
            piles.append(Pile(week, kind, chosen))
    return sorted(piles)


def compact(root: Root, table: DeltaTable, piles: Sequence[Pile], *, across_weeks: bool) -> Compacted:
    """Merge these piles, a commit a week; `table` is then at a state with the merged files.

    Rows go whose job or build was ingested again in the same week, or, `across_weeks`, in any: to know of those, the
    jobs of the whole history are read.
    """
    done = Compacted()
    state = files(root, table)
    everywhere = Superseded(state) if across_weeks else None
    for week, of_week in groupby(piles, key=attrgetter("week")):
        superseded = everywhere or Superseded({kind: {week: weeks.get(week, [])} for kind, weeks in state.items()})
        done += _exchange(root, table, [_merge(root, pile, superseded) for pile in of_week])
    return done


def _merge(root: Root, pile: Pile, superseded: Superseded) -> Merged:
    """The new files of one pile."""
    kept = (superseded.rest(pile.kind, file).cast(file_schema(pile.kind)) for file in pile.files)
    dropped = sum(superseded.count(pile.kind, file) for file in pile.files)
    made = [write_file(root, (pile.kind, pile.week), part, new_rows=dropped > 0) for part in _full(kept)]
    return Merged(pile, made, dropped)


def _full(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows of all tables in parts as large as a full file; only the last may be smaller."""
    held: list[pa.Table] = []
    rows = 0
    for table in tables:
        held.append(table)
        rows += table.num_rows
        while rows >= FULL:
            whole = pa.concat_tables(held)
            yield whole.slice(0, FULL)
            held, rows = [whole.slice(FULL)], rows - FULL
    if rows:
        yield pa.concat_tables(held)


def _exchange(root: Root, table: DeltaTable, merged: Sequence[Merged]) -> Compacted:
    """The new files for the old ones, in one commit; of a pile that is no longer whole in the table, nothing."""
    left = list(merged)
    for _ in range(_TRIES):
        table.update_incremental()
        there = {file for _, _, inside in _places(files(root, table)) for file in inside}
        for gone in [each for each in left if not there.issuperset(each.pile.files)]:
            discard(root, gone.made)
            left.remove(gone)
        if not left:
            return Compacted()
        actions: list[AddAction | RemoveAction] = [
            *(_removal(each, file) for each in left for file in each.pile.files),
            *(a for m in left for a in m.made),
        ]
        if committed(root, table, actions, table.version() + 1):
            table.update_incremental()
            return Compacted(
                files_before=sum(len(each.pile.files) for each in left),
                files_after=sum(len(each.made) for each in left),
                rows_dropped=sum(each.dropped for each in left),
            )
        time.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311 - no secret
    for each in left:  # ingests were always quicker; one of them will look again
        discard(root, each.made)
    return Compacted()


def _removal(merged: Merged, file: DataFile) -> RemoveAction:
    """Readers of changes need not look at it where no row went."""
    values: dict[str, str | None] = {"kind": merged.pile.kind, "week": merged.pile.week}
    now = time.time_ns() // 1_000_000
    return RemoveAction(file.name, merged.dropped > 0, now, file.size, values)


def _places(found: Files) -> Iterator[tuple[str, str, list[DataFile]]]:
    for kind, weeks in found.items():
        for week, inside in weeks.items():
            yield kind, week, inside
