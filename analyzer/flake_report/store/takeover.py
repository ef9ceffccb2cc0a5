"""A question about one kept part alone: what was counted of it is the answer, but for the numbers of pools and builds.

Parts are joined by statements. One alone needs none, and who asks about the newest week asks for one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from .columns import arrow, numbers, tuples, values
from .histories import PASSED, Counts

_POOL = ("step", "queue")


def of_one_week(kept: Mapping[str, pa.Table]) -> bool:
    """Whether all builds of a kept part count in one week: then no streaks of it are still to be joined."""
    return len(kept["streaks"]["week_number"].unique()) <= 1


def taken_over(kept: Mapping[str, pa.Table], base: int, asked: Mapping[str, pa.Table]) -> Counts:
    """The counts of a part of one week, whose tables are `kept`; `base` is the place of its first build.

    `asked` are `builds, pool_names, pools` of the question. Pools are numbered by name in both, so that rows stay in
    order.
    """
    here = dict(zip(tuples(asked["pool_names"], _POOL), values(asked["pool_names"]["pool"]), strict=True))
    there = numbers(kept["pools"]["pool"])
    pools = np.zeros(there.max(initial=0) + 1, dtype=np.int32)
    pools[there] = [here[pool] for pool in tuples(kept["pools"], _POOL)]

    def moved(table: pa.Table, *places: str) -> pa.Table:
        changed = {"pool": pools[numbers(table["pool"])]} | {place: numbers(table[place]) + base for place in places}
        for name, column in changed.items():
            table = table.set_column(table.column_names.index(name), name, arrow(column))
        return table

    plain = kept["streaks"].filter(arrow(numbers(kept["streaks"]["state"]) <= PASSED)).drop_columns("week_number")
    return Counts(
        tests=kept["tests"],
        files=moved(kept["files"]),
        streaks=moved(plain, "first_place", "last_place"),
        told=moved(kept["told"], "place"),
        **asked,
    )
