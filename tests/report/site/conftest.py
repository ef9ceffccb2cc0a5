"""Pages opened in a real browser: the demo's, and made-up ones of any size."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from flake_report import demo
from flake_report.cli import main
from flake_report.model.evidence import Build
from flake_report.model.quarantine import Decided
from flake_report.model.rate import (
    FlakeRate,
    History,
    Interval,
    Retried,
    Run,
    RunVerdict,
    Streak,
    Variant,
    WeekCount,
)
from flake_report.model.report import FlakeReport, Health, WeekTotal, Window
from flake_report.model.results import Outcome, TestId
from flake_report.model.story import Stories, Story, ToldAttempt
from flake_report.model.verdict import TestVerdict
from flake_report.report.site import render

MADE_AT = datetime(2026, 11, 30, 6, tzinfo=UTC)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium here; apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass
class Seen:
    """A page, with all that it said on the console and all that it asked for beyond the folder it lies in."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Seen]]:
    """Open `index.html` of a folder, at a fragment, on a screen; nothing may be said or asked for until the end."""
    seen: list[Seen] = []

    def open_page(folder: Path, fragment: str = "", *, width: int = 1280, **context: Any) -> Seen:
        made = browser.new_context(viewport={"width": width, "height": 900}, **context)
        one = Seen(made.new_page())
        seen.append(one)
        home = folder.as_uri()
        one.page.on("console", lambda message: one.said.append(message.text))
        one.page.on("pageerror", lambda error: one.said.append(str(error)))
        one.page.on("request", lambda request: None if request.url.startswith(home) else one.asked.append(request.url))
        one.page.goto(f"{home}/index.html{fragment}")
        return one

    yield open_page
    for one in seen:
        one.page.context.close()
        assert one.said == []
        assert one.asked == []


@dataclass(frozen=True)
class Exported:
    """The demo, stored and exported."""

    store: Path
    site: Path


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp("site")
    demo.write_history(folder / "archive")
    store, site = folder / "store", folder / "site"
    assert main(["ingest", str(folder / "archive"), "--store", str(store)]) == 0
    assert main(["export", str(site), "--store", str(store), "--branch", "main"]) == 0
    return Exported(store, site)


@pytest.fixture(scope="session")
def axe() -> Callable[[Page], list[str]]:
    """What axe-core finds on a page that lets its script in: rule and place."""
    script = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")

    def violations(page: Page) -> list[str]:
        page.evaluate(script)
        found = page.evaluate("axe.run()")["violations"]
        return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]

    return violations


BUILDS = tuple(
    Build(
        "acme", "ci", str(at + 1), at + 1, f"{at:040x}", "main", "webhook", MADE_AT - timedelta(days=20 - at), "failed"
    )
    for at in range(20)
)


def story(name: str, message: str = "AssertionError: no", *, signature: str = "", flaky: bool = True) -> Story:
    """A variant of twenty builds: it failed in the sixth and the sixteenth and passed on a retry, or never failed."""
    variant = Variant(TestId("v1.test_x", name), "step", "pool", "")
    hits = 2 if flaky else 0
    rate = FlakeRate(
        variant,
        Interval(20, hits, hits / 20, 0.02 if flaky else 0.0, 0.28 if flaky else 0.117),
        Interval(20, 0, 0.0, 0.0, 0.117),
        rank_low=0.0123 if flaky else 0.0,
        signature=signature,
        verdict=TestVerdict.FLAKY if flaky else TestVerdict.HEALTHY,
        reason="2 builds both failed and passed" if flaky else "no failure of its own in 20 runs",
        recovery=Interval(2, 2, 1.0, 0.3, 1.0) if flaky else Interval(0, 0, 0.0, 0.0, 1.0),
        retried=Retried(automatic=2) if flaky else Retried(),
        flaky_runs=hits,
        trend=(WeekCount("2026-W47", 10, 1, 0), WeekCount("2026-W48", 10, 1, 0)) if flaky else (),
    )
    runs = tuple(
        Run(variant, BUILDS[at].key, at, BUILDS[at].created_at, RunVerdict.FLAKY, first_failed=True, recovered=True)
        for at in ((5, 15) if flaky else ())
    )
    passes = (Streak(0, 4, 5), Streak(6, 14, 9), Streak(16, 19, 4)) if flaky else (Streak(0, 19, 20),)
    attempts = tuple(
        ToldAttempt(variant, run.order, f"job-{run.order}-{nth}", "agent", nth, None, died=False, outcome=outcome,
                    environment=False, signature=signature, fingerprint="f00d" if nth == 0 else "",
                    message=message if nth == 0 else "")
        for run in runs
        for nth, outcome in enumerate((Outcome.FAILED, Outcome.PASSED))
    )  # fmt: skip
    weeks = (Interval(10, 1, 0.1, 0.011, 0.381), Interval(10, 1, 0.1, 0.011, 0.381)) if flaky else ()
    return Story(rate, History(variant, runs, passes), attempts, weeks)


def rendered(stories: tuple[Story, ...], decided: Sequence[Decided] | None, **parts: Any) -> dict[str, bytes]:
    """The files of the page of these tests; `parts` are others of the report."""
    health = Health(20, 20, 0, 0, 40, 0, BUILDS[0].created_at, BUILDS[-1].created_at, ("all",), 0)
    report = FlakeReport(
        Window(None, None, "main"),
        tuple(one.rate for one in stories),
        health,
        budget=0.005,
        builds=BUILDS,
        weeks=tuple(WeekTotal(week, 10, 10, 1, 0, 1, 0, 0.5) for week in ("2026-W47", "2026-W48")),
    )
    report = replace(report, **parts)
    return render(report, Stories("", 0.005, BUILDS, stories), MADE_AT, decided)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A folder with the page of made-up stories."""

    def make(*stories: Story, decided: Sequence[Decided] | None = None, **parts: Any) -> Path:
        folder = tmp_path_factory.mktemp("made")
        for name, data in rendered(stories, decided, **parts).items():
            (folder / name).write_bytes(data)
        return folder

    return make


@pytest.fixture(scope="session")
def told() -> Callable[..., Story]:
    """Makes the story of one test."""
    return story


@pytest.fixture(scope="session")
def builds() -> tuple[Build, ...]:
    """The builds of those stories."""
    return BUILDS
