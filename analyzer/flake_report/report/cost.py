"""What failures cost that were no regression, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from flake_report.model.cost import Cost, Loss, LossBy

from .words import one_line, plural

SHOWN = 3
"""Rows of a kind that are shown."""

HEADS = {LossBy.SIGNATURE: "by signature", LossBy.TEST: "by test", LossBy.QUEUE: "by queue"}


def to_json(cost: Cost) -> dict[str, object]:
    """The stable keys of `cost`; hours are GPU-hours, money is null without prices."""
    return {
        "failed_jobs": cost.failed_jobs,
        "retries": cost.retries,
        "failed_hours": cost.failed_hours,
        "retry_hours": cost.retry_hours,
        "money": cost.money,
        "unpriced_hours": cost.unpriced_hours,
        "untimed": cost.untimed,
        "regressions": cost.regressions,
        "losses": [
            {
                "by": one.by.value,
                "name": one.name,
                "failed_hours": one.failed_hours,
                "retry_hours": one.retry_hours,
                "money": one.money,
            }
            for one in cost.losses
        ],
    }


def to_text(cost: Cost, *, shown: int = SHOWN) -> Iterator[RenderableType]:
    """Renderables for a terminal: the whole, then the largest of each kind; nothing where nothing was lost."""
    if not cost.failed_jobs + cost.retries:
        return
    jobs = f"{cost.failed_hours:.1f} in {plural(cost.failed_jobs, 'failed job')}"
    retries = f"{cost.retry_hours:.1f} in {cost.retries:,} {'retry' if cost.retries == 1 else 'retries'}"
    whole = Text.assemble(
        ("lost to failures that were no regression: ", "bold"),
        (f"{cost.hours:.1f} GPU-hours", "bold"),
        f", {jobs}, {retries}",
    )
    if cost.money is not None:
        whole.append(f" · {cost.money:,.2f} by the prices set", style="bold")
        if cost.unpriced_hours:
            whole.append(f", {cost.unpriced_hours:.1f} hours without a price")
    yield whole
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim")
    for _ in range(2 if cost.money is not None else 1):
        rows.add_column(justify="right", no_wrap=True)
    rows.add_column(overflow="fold")
    for by, head in HEADS.items():
        mine = [one for one in cost.losses if one.by is by]
        for at, one in enumerate(mine[:shown]):
            rows.add_row(head if not at else "", f"{one.hours:.1f} h", *_money(one, cost), Text(one_line(one.name)))
        if len(mine) > shown > 1:
            rows.add_row("", "", *([""] if cost.money is not None else []), f"… {len(mine) - shown:,} more")
    yield rows
    if cost.untimed:
        yield Text(f"{plural(cost.untimed, 'job')} left out: nothing says how long they ran", style="dim")


def _money(loss: Loss, cost: Cost) -> list[str]:
    """The cell for money, in a table that has such a column."""
    if cost.money is None:
        return []
    return [f"{loss.money:,.2f}" if loss.money is not None else ""]
