"""The quarantine list as a file for the recorder, and what changed in it as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from rich.console import RenderableType
from rich.padding import Padding
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
    for fate in ORDER:
        for one in decided:
            if one.fate is fate:
                yield from _told(one, today)
    counted = Counter(one.fate for one in decided)
    told = [f"{counted[fate]:,} {fate.value}" for fate in ORDER if counted[fate]]
    kept = counted[Fate.ADDED] + counted[Fate.KEPT]
    excused = f"{plural(kept, 'failure')} excused → {file}" if kept else f"nothing is excused → {file}"
    yield Text(" · ".join([excused, *told]), style="dim", overflow="fold")


def _told(one: Decided, today: date) -> Iterator[RenderableType]:
    entry = one.entry
    yield Text.assemble(
        (f"{one.fate.value:<10}", STYLES.get(one.fate, "")), (one_line(entry.test), "bold"), overflow="fold"
    )
    where = " · ".join(part for part in (entry.step, entry.queue, entry.owner) if part)
    left = (entry.expires - today).days
    until = f"until {entry.expires}" + (f", {plural(left, 'day')} left" if left >= 0 else "")
    lines = {
        Fate.ADDED: [where, entry.reason, entry.evidence, until],
        Fate.KEPT: [where, until],
        Fate.HEALED: [where, one.why],
        Fate.EXPIRED: [where, f"{one.why}: it fails builds again; --renew lists it anew if it still flakes"],
        Fate.HELD_BACK: [where, f"still flaky, and {one.why}: --renew lists it anew"],
    }[one.fate]
    yield from (Padding(Text(one_line(line), style="dim"), (0, 0, 0, 10)) for line in lines if line)
