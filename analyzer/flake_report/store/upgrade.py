"""An older store made one of today's: a step for each layout that there was, in order.

Every step may be taken twice, as the number of the layout is written last: one that was cut short is begun again.
Rows are never rewritten, and programs of the older layout may go on reading; who writes must be upgraded, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from deltalake import DeltaTable, Schema
from deltalake.exceptions import DeltaError

from flake_report.errors import FlakeReportError, reason

from .delta import layout_of, load_table
from .layout import CONFIGURATION, LAYOUT, LAYOUT_KEY, table_schema
from .root import Root


class Step(NamedTuple):
    """What brings a store from one layout to the next."""

    name: str
    take: Callable[[DeltaTable], None]


def _declare_columns(table: DeltaTable) -> None:
    declared = {field.name for field in table.schema().fields}
    missing = [field for field in Schema.from_arrow(table_schema()).fields if field.name not in declared]
    if missing:
        table.alter.add_columns(missing)


def _set_retention(table: DeltaTable) -> None:
    _set(table, {key: value for key, value in CONFIGURATION.items() if key != LAYOUT_KEY})


def _from_1(table: DeltaTable) -> None:
    _declare_columns(table)
    _set_retention(table)


STEPS = {1: Step("declare all columns, and keep the names of merged files for a day", _from_1)}
"""By the layout that a step starts from."""


def upgrade(root: Root) -> tuple[str, ...]:
    """Take every step that the store still needs; answers their names.

    Raises `FlakeReportError` for a newer store, and where the store cannot be written.
    """
    table = load_table(root)
    taken = []
    try:
        for layout in range(layout_of(root, table), LAYOUT):
            STEPS[layout].take(table)
            _set(table, {LAYOUT_KEY: str(layout + 1)})
            taken.append(f"layout {layout} to {layout + 1}: {STEPS[layout].name}")
    except (DeltaError, OSError) as error:
        raise FlakeReportError(
            f"store {root}: cannot be upgraded ({reason(error)}); mend that and try again"
        ) from error
    return tuple(taken)


def _set(table: DeltaTable, properties: dict[str, str]) -> None:
    table.update_incremental()
    table.alter.set_table_properties(properties, raise_if_not_exists=False)
    table.update_incremental()
