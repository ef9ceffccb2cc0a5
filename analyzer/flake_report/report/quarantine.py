"""The quarantine list as a file for the recorder, and what changed in it as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from flake_report.model.quarantine import SCHEMA, Decided, Entry, Fate, Quarantine

from .words import one_line, plural

ORDER = (Fate.ADDED, Fate.KEPT, Fate.HEALED, Fate.EXPIRED, Fate.HELD_BACK)

STYLES = {Fate.ADDED: "yellow", Fate.HEALED: "green", Fate.EXPIRED: "red", Fate.HELD_BACK: "red"}
"""How a fate is coloured; one that is not here is not coloured."""


def to_file(quarantine: Quarantine) -> bytes:
    """The file, as the recorder reads it; `lapsed` is for the next time that the list is made."""
    lists = {"entries": quarantine.entries, "lapsed": quarantine.lapsed}
    rows = {name: [row(entry) for entry in entries] for name, entries in lists.items()}
    return json.dumps({"schema": SCHEMA, **rows}, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def row(entry: Entry) -> dict[str, object]:
    """One entry by the contract's keys."""
    return {
        "test": entry.test,
        "step": entry.step,
        "queue": entry.queue,
        "fingerprints": list(entry.fingerprints),
        "reason": entry.reason,
        "evidence": entry.evidence,
        "owner": entry.owner,
        "since": entry.since.isoformat(),
        "expires": entry.expires.isoformat(),
    }


def to_json(file: str, decided: Sequence[Decided]) -> dict[str, object]:
    """The stable keys of `quarantine --format json`."""
    return {
        "file": file,
        "decisions": [{**row(one.entry), "fate": one.fate.value, "why": one.why} for one in decided],
    }


def to_text(file: str, decided: Sequence[Decided], today: date) -> Iterator[RenderableType]:
    """Renderables for a terminal: each entry with its fate, then where the list was written."""
    again = {_place(one.entry) for one in decided if one.fate is Fate.ADDED}
    for fate in ORDER:
        for one in decided:
            if one.fate is fate:
                yield _told(one, today, again=_place(one.entry) in again)
    counted = Counter(one.fate for one in decided)
    told = [f"{counted[fate]:,} {fate.value}" for fate in ORDER if counted[fate]]
    kept = counted[Fate.ADDED] + counted[Fate.KEPT]
    excused = f"{plural(kept, 'failure')} excused → {file}" if kept else f"nothing is excused → {file}"
    yield Text(" · ".join([excused, *told]), style="dim", overflow="fold")


def _place(entry: Entry) -> tuple[str, str, str]:
    return entry.test, entry.step, entry.queue


def _told(one: Decided, today: date, *, again: bool) -> Table:
    entry = one.entry
    where = " · ".join(part for part in (entry.step, entry.queue, entry.owner) if part)
    left = (entry.expires - today).days
    until = f"until {entry.expires}" + (f", {plural(left, 'day')} left" if left >= 0 else "")
    ran_out = "it is listed anew" if again else "it fails builds again; --renew lists it anew if it still flakes"
    lines = {
        Fate.ADDED: [where, entry.reason, entry.evidence, until],
        Fate.KEPT: [where, until],
        Fate.HEALED: [where, one.why],
        Fate.EXPIRED: [where, f"{one.why}: {ran_out}"],
        Fate.HELD_BACK: [where, f"still flaky, and {one.why}: --renew lists it anew"],
    }[one.fate]
    told = Table.grid(padding=(0, 1))
    told.add_column(width=9)
    told.add_column(overflow="fold")
    told.add_row(Text(one.fate.value, style=STYLES.get(one.fate, "")), Text(one_line(entry.test), style="bold"))
    for line in lines:
        if line:
            told.add_row("", Text(one_line(line), style="dim"))
    return told
