"""Throws damaged result files at the reader until the time is up, or one of its promises breaks.

    .venv/bin/python tests/fuzz/fuzz_reports.py [--seconds 60] [--seed 1]
    .venv/bin/python tests/fuzz/fuzz_reports.py --coverage [libFuzzer's options]    (needs: pip install atheris)

Seeds are the files in `tests/fixtures/junit` and `tests/fixtures/attempts`. The promises: no exception; the same
records however the bytes are cut; each case has one outcome; attempts of a test are numbered from 0; what is not
complete says why; corrected JUnit of the attempts is well-formed and reads back to as many tests. An input that breaks
one is written to `crash-<seed>-<number>.xml` here and named.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path
from random import Random

from fuzzing import promise, spoilt, until
from lxml import etree

from flake_report.model.results import Attempt, ReportSummary, TestId
from flake_report.parse.reports import read_report
from flake_report.report.junit import write_junit

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
SPICES = (
    b"<testcase ", b"</testcase>", b"<testsuite name='pytest' tests='2'>", b"</testsuite>", b"<failure>", b"<skipped/>",
    b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?", b"?>", b"<!DOCTYPE x [", b"]>", b"&", b"&#0;", b"&#x110000;", b"&lt;",
    b"\0", b"\x1b[31m", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r\n", b'"', b"'", b"=", b"<", b">", b"/>",
    b'{"schema": "gpu-guard-attempts/1"}\n', b'{"nodeid": "a.py::t", "attempt": 0, "outcome": "passed"}\n', b"[", b"{",
)  # fmt: skip


def read(chunks: list[bytes]) -> tuple[ReportSummary, list[Attempt]]:
    attempts: list[Attempt] = []
    return read_report("any.xml", chunks, attempts.append), attempts


def one_input(data: bytes) -> None:
    """Reads an input in two ways and holds the reader to its promises."""
    rng = Random(len(data))
    summary, attempts = read([data])
    cuts = sorted({0, len(data), *(rng.randrange(len(data) + 1) for _ in range(5))})
    promise(read([data[a:b] for a, b in pairwise(cuts)]) == (summary, attempts), "records depend on how bytes are cut")
    outcomes = summary.passed + summary.failed + summary.errors + summary.skipped
    promise(outcomes == summary.cases, "a case has no outcome, or two")
    promise(summary.complete or bool(summary.warnings), "nothing says what is wrong")
    numbers: dict[tuple[str, TestId], int] = {}
    for attempt in attempts:
        key = (attempt.session, attempt.test)
        promise(attempt.number == numbers.get(key, 0), "attempts are not numbered in order")
        numbers[key] = attempt.number + 1
    written = write_junit(attempts)
    etree.fromstring(written)
    back, again = read([written])
    promise(back.complete, "what was written reads back as damaged")
    promise(len({(one.session, one.test) for one in again}) == len(numbers), "tests are lost in writing")


def damaged(seeds: list[bytes], rng: Random) -> bytes:
    """One or two seeds, with bytes dropped, flipped and doubled, and markup thrown in."""
    data = bytearray().join(rng.choice(seeds) for _ in range(rng.randint(1, 2)))
    return spoilt(data, rng.randint(0, 25), SPICES, rng)


def seed_files() -> list[bytes]:
    return [
        path.read_bytes() for path in sorted(FIXTURES.glob("junit/*.xml")) + sorted(FIXTURES.glob("attempts/*.jsonl"))
    ]


def by_coverage(options: list[str]) -> None:
    """Hands the inputs' choice to atheris, which looks for new paths through the reader."""
    import atheris

    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *options], one_input)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coverage", action="store_true")
    asked, rest = parser.parse_known_args()
    if asked.coverage:
        by_coverage(rest)
    seeds = seed_files()
    return until(asked.seconds, asked.seed, lambda rng: damaged(seeds, rng), one_input, "xml")


if __name__ == "__main__":
    raise SystemExit(main())
