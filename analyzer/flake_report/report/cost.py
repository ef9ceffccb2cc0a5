"""What failures cost that were no regression, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from flake_report.model.cost import Cost, Loss, LossBy

from .words import one_line, plural

SHOWN = 3
"""Rows a kind that are shown unasked."""

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


def to_text(cost: Cost) -> Iterator[Text]:
    """Lines for a terminal: the whole, then the largest of each kind; nothing where nothing was lost."""
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
    for by, head in HEADS.items():
        mine = [one for one in cost.losses if one.by is by]
        for at, one in enumerate(mine[:SHOWN]):
            yield _row(head if not at else "", one)
        if len(mine) > SHOWN:
            yield Text(f"{'':<13} … {len(mine) - SHOWN:,} more", style="dim")
    if cost.untimed:
        yield Text(f"{plural(cost.untimed, 'job')} never said how long it ran and is left out", style="dim")


def _row(head: str, loss: Loss) -> Text:
    line = Text(overflow="fold")
    line.append(f"{head:<13}", style="dim")
    line.append(f"{loss.hours:>7.1f} h")
    if loss.money is not None:
        line.append(f" {loss.money:>9,.2f}")
    return line.append(f"  {one_line(loss.name)}")
