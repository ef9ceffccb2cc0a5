"""Incidents of the environment, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from flake_report.model.incident import Incident, IncidentKind

from .links import job_url
from .words import one_line, plural, stamp

SHOWN = 5
"""Kinds of incidents that are told unasked."""

_INDENT = (0, 0, 0, 2)


COLUMNS = (
    "build", "job", "url", "at", "signature", "fingerprint", "blame", "victims", "culprit", "agent", "host",
)  # fmt: skip
"""The stable keys of an incident, in order."""


def to_json(incident: Incident) -> dict[str, object]:
    """One incident; `culprit` is null where no data can name it."""
    return {
        "build": incident.build.key,
        "job": incident.job,
        "url": job_url(incident.build, incident.job),
        "at": stamp(incident.build.created_at),
        "signature": incident.signature,
        "fingerprint": incident.fingerprint,
        "blame": incident.blame.value,
        "victims": [victim.test.label for victim in incident.victims],
        "culprit": incident.culprit or None,
        "agent": incident.agent,
        "host": incident.host,
    }


def kind_to_json(kind: IncidentKind) -> dict[str, object]:
    """Incidents of one signature and fingerprint."""
    return {
        "signature": kind.signature,
        "fingerprint": kind.fingerprint,
        "blame": kind.blame.value,
        "incidents": kind.incidents,
        "victims": kind.victims,
        "first_build": kind.first.key,
        "first_at": stamp(kind.first.created_at),
        "last_build": kind.last.key,
        "last_at": stamp(kind.last.created_at),
        "new": kind.new,
    }


def to_text(
    incidents: Sequence[Incident], kinds: Sequence[IncidentKind], *, everything: bool
) -> Iterator[RenderableType]:
    """Renderables for a terminal, a blank line at their end; nothing where there was no incident."""
    if not incidents:
        return
    victims = sum(len(incident.victims) for incident in incidents)
    told = f"{plural(len(incidents), 'incident')} of the environment, {plural(victims, 'victim')}"
    yield Text(told, style="bold")
    shown = kinds if everything else kinds[:SHOWN]
    for kind in shown:
        yield Padding(_line(kind, _culprits(kind, incidents)), _INDENT)
    if more := len(kinds) - len(shown):
        yield Padding(Text(f"… {plural(more, 'more kind')}; --all shows them", style="dim"), _INDENT)
    yield Text()


def _line(kind: IncidentKind, culprits: Counter[str]) -> Text:
    days = " to ".join(dict.fromkeys(f"{build.created_at:%Y-%m-%d}" for build in (kind.first, kind.last)))
    line = Text(f"{kind.incidents:>4,}×  ", style="bold", overflow="fold")
    line.append(kind.signature, style="not bold default")
    told = f"{plural(kind.victims, 'test')} · {days}{' · new' if kind.new else ''} · {_culprit(kind, culprits)}"
    return line.append(f" · {one_line(told)}", style="not bold dim")


def _culprits(kind: IncidentKind, incidents: Sequence[Incident]) -> Counter[str]:
    alike = (one for one in incidents if (one.signature, one.fingerprint) == (kind.signature, kind.fingerprint))
    return Counter(one.culprit for one in alike if one.culprit)


def _culprit(kind: IncidentKind, culprits: Counter[str]) -> str:
    """Who did it, and of how many of them: a kind may have several causes."""
    if not culprits:
        return "culprit undetermined"
    if list(culprits.values()) == [kind.incidents]:
        return f"culprit {next(iter(culprits))}"
    named = (f"{name} ({count:,} of {kind.incidents:,})" for name, count in sorted(culprits.items()))
    return f"culprit {', '.join(named)}"
