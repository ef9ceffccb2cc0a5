"""Questions to a store become reports: the rates of a history, the evidence behind them, and the page of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flake_report.model.comparison import WeekTable
from flake_report.model.rate import Level
from flake_report.model.report import FlakeReport, Page

from .cycles import seldom_searched

if TYPE_CHECKING:
    from datetime import datetime

    from flake_report.model.config import QueueConfig
    from flake_report.model.evidence import Build
    from flake_report.model.machines import PlaceRate
    from flake_report.model.memory import MemoryReport, Start
    from flake_report.model.quarantine import Decided
    from flake_report.model.query import Query
    from flake_report.model.rate import FlakeRate, Fleet, Variant
    from flake_report.model.story import Stories, ToldAttempt
    from flake_report.rate.owners import Ownership
    from flake_report.store import Store

    from .answers import Jobs, Memory


def ownership(tests: Mapping[str, str], codeowners: tuple[str, str] | None, warn: Callable[[str], None]) -> Ownership:
    """Who owns which test: patterns of the settings, and the name and text of a CODEOWNERS file."""
    from flake_report.rate.codeowners import parse_codeowners
    from flake_report.rate.owners import Ownership

    if codeowners is None:
        return Ownership(tests)
    name, text = codeowners
    rules, warnings = parse_codeowners(text, name)
    for warning in warnings:
        warn(warning)
    return Ownership(tests, rules)


def show(
    store: str,
    query: Query,
    *,
    budget: float,
    queues: Mapping[str, QueueConfig] | None = None,
    ownership: Ownership | None = None,
    engine: str = "duckdb",
) -> FlakeReport:
    """The state of the part of a history that the query names; `budget` is the rate that a test may have.

    `queues` say what an agent of each has and costs, `ownership` who owns which test, `engine` what counts.
    """
    from flake_report.store import Store

    opened = Store.open(store, engine)
    report, _ = _report(opened, query, budget=budget, queues=queues or {}, ownership=ownership)
    return report


def told(
    store: str,
    query: Query,
    *,
    budget: float,
    queues: Mapping[str, QueueConfig] | None = None,
    ownership: Ownership | None = None,
    engine: str = "duckdb",
) -> tuple[FlakeReport, Stories]:
    """What `show` answers, and the evidence behind each verdict in it: of one state of the store."""
    from flake_report.store import Store

    opened = Store.open(store, engine)
    report, fleet = _report(opened, query, budget=budget, queues=queues or {}, ownership=ownership)
    return report, _stories(opened, query, fleet, report.tests, budget)


@seldom_searched()
def show_page(
    store: str,
    query: Query,
    *,
    budget: float,
    queues: Mapping[str, QueueConfig],
    ownership: Ownership,
    engine: str,
    form: str,
    write: Callable[[FlakeReport], str],
    brief: bool = False,
) -> Page:
    """What `write` makes of the report that `show` answers, or made of it before; see `store.pages`.

    `form` tells apart all texts that may be made of one report; `brief`: one of this form has no use for what a brief
    report leaves out. Nothing is found where no job matches.
    """
    from flake_report.store.pages import page

    def make(opened: Store) -> Page:
        report, _ = _report(opened, query, budget=budget, queues=queues, ownership=ownership, brief=brief)
        return Page(write(report), found=report.health.jobs > 0)

    return page(store, engine, repr(("show", query, budget, queues, ownership, form)), make)


@seldom_searched()
def why_page(
    store: str,
    query: Query,
    *,
    budget: float,
    ownership: Ownership,
    engine: str,
    form: str,
    write: Callable[[Stories], str],
) -> Page:
    """What `write` makes of the evidence behind the verdict on each variant of a test, worst first; as `show_page`."""
    from flake_report.store.pages import page

    def make(opened: Store) -> Page:
        from flake_report.rate.owners import owned, owners
        from flake_report.rate.rates import flake_rates

        fleet = opened.fleet(query)
        rates = owned(flake_rates(fleet, budget), owners(fleet.histories, ownership))
        stories = _stories(opened, query, fleet, rates, budget)
        return Page(write(stories), found=bool(stories.stories))

    return page(store, engine, repr(("why", query, budget, ownership, form)), make)


def site(
    report: FlakeReport, stories: Stories, made_at: datetime, decided: Sequence[Decided] | None = None
) -> dict[str, bytes]:
    """The page of a report and what it needs beside it, by name; see `report.site.page`."""
    from flake_report.report.site import render

    return render(report, stories, made_at, decided)


@seldom_searched()
def _report(
    opened: Store,
    query: Query,
    *,
    budget: float,
    queues: Mapping[str, QueueConfig],
    ownership: Ownership | None,
    brief: bool = False,
) -> tuple[FlakeReport, Fleet]:
    """The report, and the histories that it is made of.

    The store answers in a thread of its own, while what it said before is rated: engines count beside Python.
    """
    from flake_report import answers
    from flake_report.store.beside import beside

    with beside(opened) as storekeeper:
        ask = storekeeper.ask
        first = ask(answers.asked, opened, query)
        # what rates is loaded while the store counts: either takes its time
        from flake_report.rate import incidents
        from flake_report.rate.comparisons import compared, comparisons
        from flake_report.rate.cost import Excuses, cost
        from flake_report.rate.machines import own_troubles
        from flake_report.rate.owners import owned, owners
        from flake_report.rate.rates import flake_rates
        from flake_report.rate.rollups import roll_ups
        from flake_report.rate.segments import parted
        from flake_report.rate.ways import ways
        from flake_report.rate.weeks import week_table
        from flake_report.rate.weektotals import hours_by_week, week_totals
        from flake_report.report.rollups import LEVELS
        from flake_report.store.histories import fold

        counted, begun, pools = first.result()
        jobs = ask(answers.jobs, opened, query, pools)
        memory = ask(answers.memory, opened, query, pools)
        rest = ask(answers.rest, opened, query, pools)
        fleet = fold(counted)
        named = owners(fleet.histories, ownership) if ownership else {}
        parts = parted(fleet)
        tests = owned(flake_rates(fleet, budget, parts), named)
        broken = {test.variant: test.segments for test in tests if test.breakages}
        own = own_troubles(fleet, broken)
        rollups = roll_ups(fleet, parts, named, LEVELS if brief else tuple(Level))
        counts = WeekTable() if brief else week_table(fleet, broken)
        changes = comparisons(fleet, broken) if brief else compared(counts)
        excuses = Excuses(fleet.histories, tests)
        agents = _places(jobs.result(), own, fleet.builds, queues)
        known = _memory(memory.result(), begun, budget)
        struck = incidents.incidents(jobs.result().struck, fleet.builds, known.culprits)
        met = incidents.of_tests(struck, query.test)
        spent, failures, health, window = rest.result()
    report = FlakeReport(
        window=window,
        tests=tests,
        health=health,
        budget=budget,
        builds=fleet.builds,
        rollups=rollups,
        incidents=met,
        incident_kinds=incidents.kinds(met, fleet.builds),
        comparisons=changes,
        owners=named,
        memory=known,
        cost=cost(spent, failures, excuses, queues),
        counts=counts,
        agents=agents,
    )
    if not brief:
        hours = hours_by_week(spent, failures, excuses, queues, fleet.builds)
        report = replace(report, weeks=week_totals(fleet, tests, met, hours), ways=ways(fleet, tests))
    return report, fleet


@seldom_searched()
def _stories(opened: Store, query: Query, fleet: Fleet, rates: Iterable[FlakeRate], budget: float) -> Stories:
    from flake_report.model.story import Stories, Story
    from flake_report.rate.rates import intervals
    from flake_report.store.evidence import told_attempts

    histories = {history.variant: history for history in fleet.histories}
    attempts: dict[Variant, list[ToldAttempt]] = defaultdict(list)
    for attempt in told_attempts(opened, query):
        attempts[attempt.variant].append(attempt)
    rated = tuple(rates)
    weeks = iter(intervals([(week.first_failures, week.runs) for rate in rated for week in rate.trend]))
    stories = tuple(
        Story(rate, histories[rate.variant], tuple(attempts[rate.variant]), tuple(next(weeks) for _ in rate.trend))
        for rate in rated
    )
    return Stories(query.test or "", budget, fleet.builds, stories)


def _places(
    jobs: Jobs, own: Collection[str], builds: Sequence[Build], queues: Mapping[str, QueueConfig]
) -> tuple[PlaceRate, ...]:
    from flake_report.rate.machines import place_rates
    from flake_report.store.machines import job_places

    gpus = {name: queue.gpu_type for name, queue in queues.items() if queue.gpu_type}
    places = job_places(jobs.ran, own=own, victims={one.job for one in jobs.struck})
    return place_rates(places, builds, gpus, jobs.elsewhere)


def _memory(found: Memory, begun: Sequence[Start], budget: float) -> MemoryReport:
    """What the history says of GPU memory: who left it, which settings fit, how its events were diagnosed."""
    from flake_report.model.memory import MemoryReport
    from flake_report.rate.culprit import culprits, suspicions
    from flake_report.rate.memory_history import diagnoses
    from flake_report.rate.tuning import tunings

    known = suspicions(found.orders, found.traces)
    return MemoryReport(
        suspicions=known,
        culprits=culprits(found.orders, found.traces, known),
        tunings=tunings(begun, budget=budget, held=found.held),
        diagnoses=diagnoses(found.events),
    )
