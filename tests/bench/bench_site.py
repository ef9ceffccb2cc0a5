"""How large the page is and how soon it is seen, beside a page of altair's own with the same tests' intervals.

    python tests/bench/bench_site.py [--variants 2000] [--opened 7]

The history is that of `make_store`, smaller: as many variants, a hundred runs of each, eight weeks. Both pages are
opened from disk in headless Chromium, in turn; the median first contentful paint of each is told, and the time from the
report to the page's bytes. Needs Debian's chromium.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import altair as alt
import make_store
from playwright.sync_api import Browser, sync_playwright

from flake_report import flow
from flake_report.model.query import Query
from flake_report.model.report import FlakeReport


def stored(folder: Path, variants: int) -> None:
    """A store of so many variants, in kinds of job of fifty tests each."""
    make_store.KINDS_OF_JOB, make_store.VARIANTS = variants // make_store.TESTS_EACH, variants
    sys.argv = ["make_store", str(folder), "--attempts", str(variants * 100), "--builds", "400", "--weeks", "8"]
    make_store.main()


def peer(report: FlakeReport) -> bytes:
    """The rate of every test with its interval, as altair writes a page that needs no network."""
    values = [{"test": str(one.variant), "rate": one.own.rate, "low": one.own.low, "high": one.own.high}
              for one in report.tests]  # fmt: skip
    base = alt.Chart(alt.InlineData(values=values)).encode(y=alt.Y("test:N", sort="-x"))
    chart = base.mark_rule().encode(x="low:Q", x2="high:Q") + base.mark_point().encode(x="rate:Q")
    page: str = chart.to_html(inline=True)
    return page.encode()


def first_paint(browser: Browser, page: Path) -> float:
    """Seconds until the page shows anything, or until it shows its drawing, whichever the browser calls contentful."""
    opened = browser.new_page()
    opened.goto(page.as_uri())
    opened.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    seconds = opened.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000
    opened.close()
    return float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--opened", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        store, site = Path(scratch) / "store", Path(scratch) / "site"
        stored(store, given.variants)
        report, stories = flow.told(str(store), Query(), budget=0.005)
        started = perf_counter()
        files = flow.site(report, stories, datetime(2026, 3, 2, tzinfo=UTC))
        took = perf_counter() - started
        site.mkdir()
        for name, data in (*files.items(), ("peer.html", peer(report))):
            (site / name).write_bytes(data)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        pages = {"flake-report": site / "index.html", "altair": site / "peer.html"}
        paints: dict[str, list[float]] = {name: [] for name in pages}
        for _ in range(given.opened):
            for name, page in pages.items():
                paints[name].append(first_paint(browser, page))
        browser.close()
        print(f"{len(report.tests):,} tests; the page is written in {took:.1f} s")
        sizes = {name: page.stat().st_size for name, page in pages.items()}
        medians = {name: statistics.median(each) for name, each in paints.items()}
        for name in pages:
            print(f"{name:>14}  {sizes[name] / 1e6:5.2f} MB  first paint {medians[name]:5.2f} s")
        print(f"{'ratio':>14}  {sizes['flake-report'] / sizes['altair']:5.2f}     first paint "
              f"{medians['flake-report'] / medians['altair']:5.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
