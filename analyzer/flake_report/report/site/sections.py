"""What the sections of the page say, in their order, from the JSON of the report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from flake_report.model.quarantine import Decided, Fate
from flake_report.model.report import FlakeReport
from flake_report.model.verdict import TestVerdict
from flake_report.report.machines import SURE
from flake_report.report.weekly import notes
from flake_report.report.words import plural

from .rows import TestRow

STALE = timedelta(days=2)
"""Newest data older than this is worth a look: a main branch builds every day."""

Json = Mapping[str, Any]


def health(data: Json, made_at: datetime) -> Iterator[tuple[str, str, str]]:
    """Each fact of the data as (name, value, doubt); the doubt is empty where all is well."""
    facts = data["health"]
    newest = datetime.fromisoformat(facts["newest"]) if facts["newest"] else None
    if newest is None:
        yield "newest data", "none", "the store has nothing that was asked for"
    else:
        age = made_at - newest
        old = "collect again: nothing came in for days" if age > STALE else ""
        yield "newest data", f"{newest:%Y-%m-%d %H:%M} UTC, {_ago(age)}", old
    yield "builds", f"{facts['builds']:,}", ""
    yield "jobs", f"{facts['jobs']:,}", ""
    yield (
        "jobs without results",
        f"{facts['jobs_without_results']:,}",
        ("their tests are counted nowhere: do they write JUnit files?" if facts["jobs_without_results"] else ""),
    )
    yield "jobs lost", f"{facts['jobs_lost']:,}", "what ran in them is not counted" if facts["jobs_lost"] else ""
    yield "attempts", f"{facts['attempts']:,}", ""
    yield (
        "attempts of unknown order",
        f"{facts['attempts_unknown']:,}",
        ("reruns may be missing: the recorder writes each" if facts["attempts_unknown"] else ""),
    )
    modes = {"all": "all jobs", "failed": "failed jobs only"}
    yield (
        "collected",
        " and ".join(modes.get(mode, mode) for mode in facts["modes"]) or "nothing",
        ("rates have no denominator: collect all jobs" if "failed" in facts["modes"] else ""),
    )
    yield (
        "warnings while reading",
        f"{facts['warnings']:,}",
        ("flake-report ingest prints them" if facts["warnings"] else ""),
    )


def _ago(age: timedelta) -> str:
    if age < timedelta(hours=1):
        return "less than an hour old"
    if age < timedelta(days=2):
        return f"{plural(int(age.total_seconds() // 3600), 'hour')} old"
    return f"{plural(age.days, 'day')} old"


def this_week(data: Json) -> list[tuple[str, str, str]]:
    """The newest week as (count, noun, count of the week before); empty without any week."""
    if not data["weeks"]:
        return []
    now, before = data["weeks"][-1], data["weeks"][-2] if len(data["weeks"]) > 1 else {}
    names = (("builds", "builds"), ("runs", "test runs"), ("incidents", "incidents"), ("flaky", "flaky tests"))
    told = [
        (f"{now[key]:,}", noun.removesuffix("s") if now[key] == 1 else noun, f"{before[key]:,}" if before else "")
        for key, noun in names
    ]
    return [*told, (f"{now['hours']:.1f}", "GPU-hours lost", f"{before['hours']:.1f}" if before else "")]


def newly_failing(data: Json, rows: Sequence[TestRow]) -> list[TestRow]:
    """Tests that failed this week by themselves and never before in the window, then those whose newest run did."""
    week = data["comparisons"]["week"] if data["comparisons"]["weeks_before"] else None
    fresh = [row for row in rows if row.own_since and row.own_since == week]
    known = {row.key for row in fresh}
    new = [row for row in rows if row.numbers["verdict"] == TestVerdict.NEW_FAILURE and row.key not in known]
    return [*fresh, *new]


def newly_struck(data: Json, rows: Iterable[TestRow]) -> int:
    """How many tests the environment failed this week, and never before in the window."""
    week = data["comparisons"]["week"] if data["comparisons"]["weeks_before"] else None
    return sum(bool(row.since) and row.since == week and not row.own_since for row in rows)


def suspicions(data: Json) -> list[Json]:
    """Places where GPU memory was missing: those that name somebody first, then those with most incidents."""
    return sorted(data["culprits"], key=lambda one: (not one["culprit"], not one["suspects"], -one["incidents"]))


def incidents(data: Json) -> list[dict[str, Any]]:
    """Kinds of incidents with their victims, suspected culprits, agents and newest job, most frequent first."""
    alike: dict[tuple[str, str], list[Json]] = defaultdict(list)
    for one in data["incidents"]:
        alike[one["signature"], one["fingerprint"]].append(one)
    told = []
    for kind in data["incident_kinds"]:
        mine = alike[kind["signature"], kind["fingerprint"]]
        victims = Counter(victim for one in mine for victim in one["victims"])
        told.append(
            {
                **kind,
                "struck": victims.most_common(),
                "culprits": sorted({one["culprit"] for one in mine if one["culprit"]}),
                "url": mine[0]["url"] if mine else None,
                "where": Counter(one["agent"] for one in mine if one["agent"]).most_common(3),
            }
        )
    return sorted(told, key=lambda kind: (-kind["incidents"], kind["signature"]))


def diagnosed(data: Json) -> list[tuple[str, str, int, int]]:
    """GPU-memory events as (pool, diagnosis, events, jobs), most first."""
    events: Counter[tuple[str, str]] = Counter()
    jobs: Counter[tuple[str, str]] = Counter()
    for one in data["diagnoses"]:
        events[one["queue"], one["kind"]] += one["events"]
        jobs[one["queue"], one["kind"]] += one["jobs"]
    return [(queue, kind, count, jobs[queue, kind]) for (queue, kind), count in events.most_common()]


def refused(data: Json) -> list[Json]:
    """Tunings of tests that were refused memory."""
    return [one for one in data["tuning"] if one["refusals"]]


def outstanding(data: Json) -> list[Json]:
    """Machines that are worse than others beyond chance, worst first."""
    machines = [one for one in data["agents"] if one["kind"] == "machine"]
    bad = [one for one in machines if one["p_value"] is not None and one["p_value"] <= SURE]
    return sorted(bad, key=lambda one: float(one["p_value"]))


def broken(rows: Iterable[TestRow]) -> list[tuple[TestRow, Json]]:
    """Tests that fail on every attempt now, each with the breakage that it is in."""
    return [
        (row, row.numbers["breakages"][-1])
        for row in rows
        if row.numbers["verdict"] == TestVerdict.BROKEN and row.numbers["breakages"]
    ]


def recovered(rows: Iterable[TestRow]) -> list[TestRow]:
    """Tests that were broken and pass again."""
    return [row for row in rows if row.numbers["verdict"] == TestVerdict.RECOVERED]


def verdicts(rows: Iterable[TestRow]) -> list[tuple[str, int]]:
    """How many tests have which verdict."""
    counted = Counter(row.numbers["verdict"] for row in rows)
    return [(one.value, counted[one.value]) for one in TestVerdict if counted[one.value]]


def context(
    report: FlakeReport, data: Json, rows: Sequence[TestRow], made_at: datetime, decided: Sequence[Decided] | None
) -> dict[str, Any]:
    """All that the sections print; `decided` is None where no quarantine is known."""
    return {
        "data": data,
        "made_at": made_at,
        "health": list(health(data, made_at)),
        "week": this_week(data),
        "newly_failing": newly_failing(data, rows),
        "newly_struck": newly_struck(data, rows),
        "suspicions": suspicions(data),
        "new_kinds": [kind for kind in data["incident_kinds"] if kind["new"]],
        "notes": list(notes(report.comparisons)) if report.comparisons.before else [],
        "incidents": incidents(data),
        "diagnosed": diagnosed(data),
        "refused": refused(data),
        "outstanding": outstanding(data),
        "machines": sum(one["kind"] == "machine" for one in data["agents"]),
        "broken": broken(rows),
        "recovered": recovered(rows),
        "healed": None if decided is None else [one for one in decided if one.fate is Fate.HEALED],
        "verdicts": verdicts(rows),
    }
