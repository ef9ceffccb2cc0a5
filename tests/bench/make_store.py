"""Makes a large store for measuring: seeded, with a distribution that is written down here.

    python tests/bench/make_store.py FOLDER [--attempts 20e6] [--builds 20000] [--weeks 26] [--first 0] [--seed 1]

50,000 variants: 1,000 kinds of job (a step on one of four queues, with one session) of 50 tests each. Builds are spread
evenly over the weeks; each runs ATTEMPTS / BUILDS / 50 kinds of job, drawn without replacement with weights
1 / sqrt(rank): the most frequent kind runs some thirty times as often as the rarest.

One test in 33 flakes, with a rate of its own from Beta(0.5, 10); one in 25 is skipped everywhere; one in 500 is broken
for a tenth of the history. A failed attempt is run again in half of the jobs, and then fails again with the test's own
rate. One job in 200 meets a card that is not free: one to three of its tests fail with `free-memory-at-start`. One job
in 200 is lost and leaves no results. A job begins at any time of its week, and its attempts follow each other. Names,
files, sessions and messages are as long as vLLM's.

Files are those of a compacted store, up to 500,000 rows each; a commit a week. With `--first W` weeks before W are
taken to be there already: large stores can be made in several runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pyarrow as pa

from flake_report.store.delta import create_or_open_table
from flake_report.store.layout import TABLES, file_schema
from flake_report.store.root import located
from flake_report.store.transaction import committed, write_file

KINDS_OF_JOB, TESTS_EACH = 1_000, 50
VARIANTS = KINDS_OF_JOB * TESTS_EACH
BEGIN = datetime(2026, 1, 5, tzinfo=UTC)  # the Monday of 2026-W02
FILE_ROWS = 500_000


@dataclass(frozen=True)
class Fleet:
    """What stays the same over all builds, an entry a variant unless said."""

    classname: pa.Array
    name: pa.Array
    file: pa.Array
    session_key: pa.Array
    flake: np.ndarray
    skipped: np.ndarray
    broken_from: np.ndarray  # share of the history at which it breaks; 2 is never
    weights: np.ndarray  # a kind of job


def fleet(rng: np.random.Generator) -> Fleet:
    number = np.arange(VARIANTS)
    flaky = rng.random(VARIANTS) < 1 / 33
    modules = [f"v1.kv_connector.unit.test_module_{at // 25}.TestGroup{at // 5 % 5}" for at in number]
    return Fleet(
        classname=pa.array(modules),
        name=pa.array([f"test_fewer_blocks[{at}-google/gemma-3-1b-it-float16-{at % 7}]" for at in number]),
        file=pa.array([f"tests/v1/kv_connector/unit/test_module_{at // 25}.py" for at in number]),
        session_key=pa.array([f"pytest -v -s v1/kv_connector/unit --shard-of {at // TESTS_EACH % 3}" for at in number]),
        flake=np.where(flaky, rng.beta(0.5, 10, VARIANTS), 0.0),
        skipped=rng.random(VARIANTS) < 1 / 25,
        broken_from=np.where(rng.random(VARIANTS) < 1 / 500, rng.random(VARIANTS), 2.0),
        weights=1 / np.sqrt(1 + np.arange(KINDS_OF_JOB)),
    )


@dataclass(frozen=True)
class Jobs:
    """The jobs of one week, an entry a job, in order of builds."""

    build: np.ndarray
    kind: np.ndarray
    ingest: np.ndarray
    died: np.ndarray
    struck: np.ndarray
    reruns: np.ndarray
    ids: pa.Array


def jobs_of(rng: np.random.Generator, builds: np.ndarray, each: int, weights: np.ndarray) -> Jobs:
    keys = np.log(weights) + rng.gumbel(size=(len(builds), KINDS_OF_JOB))  # the largest: drawn without replacement
    kind = np.sort(np.argpartition(-keys, each - 1, axis=1)[:, :each], axis=1).ravel()
    count = kind.size
    ids = rng.integers(0, 2**63, (count, 2))
    return Jobs(
        build=np.repeat(builds, each),
        kind=kind,
        ingest=rng.integers(0, 2**62, count),
        died=rng.random(count) < 1 / 200,
        struck=rng.random(count) < 1 / 200,
        reruns=rng.random(count) < 1 / 2,
        ids=pa.array([str(UUID(int=(int(high) << 64) | int(low))) for high, low in ids]),
    )


def attempts_of(rng: np.random.Generator, jobs: Jobs, all_tests: Fleet, share: float) -> pa.Table:
    """All attempts of a week. `share` is how much of the history lies before it."""
    told = np.nonzero(~jobs.died)[0]
    count = told.size * TESTS_EACH
    job = np.repeat(told, TESTS_EACH)
    ordinal = np.tile(np.arange(TESTS_EACH), told.size)
    test = jobs.kind[job] * TESTS_EACH + ordinal
    broken = (all_tests.broken_from[test] <= share) & (share < all_tests.broken_from[test] + 0.1)
    victim = jobs.struck[job] & (rng.random(count) < 2 / TESTS_EACH)
    own = broken | (rng.random(count) < all_tests.flake[test])
    failed = (own | victim) & ~all_tests.skipped[test]
    again = failed & jobs.reruns[job]
    first = pa.array(np.select([all_tests.skipped[test], failed], [2, 1], 0))
    second = np.where(broken | (rng.random(count) < all_tests.flake[test]), 1, 0)[again]
    rows = np.concatenate([np.arange(count), np.nonzero(again)[0]])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    number = np.concatenate([np.zeros(count, int), np.ones(second.size, int)])[order]
    outcome = np.concatenate([first.to_numpy(zero_copy_only=False), second])[order]
    job, test, ordinal = job[rows], test[rows], ordinal[rows]
    bad, victim = outcome == 1, victim[rows] & (number == 0)
    seconds = rng.exponential(3, rows.size).round(3)
    first = np.flatnonzero(np.diff(job, prepend=-1))
    within = np.repeat(first, np.diff(first, append=rows.size))
    before = seconds.cumsum() - seconds
    began = (BEGIN.timestamp() + share * 26 * 7 * 86400 + rng.random(rows.size) * 7 * 86400)[within]
    started = (began + before - before[within]) * 1e6
    columns = {
        **keys(jobs.build[job], jobs.ingest[job]),
        "job": jobs.ids.take(pa.array(job)),
        "ordinal": pa.array(np.arange(rows.size) - within),
        "classname": all_tests.classname.take(pa.array(test)),
        "name": all_tests.name.take(pa.array(test)),
        "apart": same("", rows.size),
        "file": all_tests.file.take(pa.array(test)),
        "session": chosen(["1", "2"], jobs.kind[job] % 2),
        "session_key": all_tests.session_key.take(pa.array(test)),
        "position": pa.array(ordinal),
        "pid": pa.array(1000 + jobs.kind[job]),
        "worker": same("", rows.size),
        "attempt": pa.array(number),
        "attempts_known": pa.array(np.ones(rows.size, bool)),
        "outcome": chosen(["passed", "failed", "skipped"], outcome),
        "phase": chosen(["call", "setup"], (outcome == 2).astype(int)),
        "seconds": pa.array(seconds),
        "started_at": pa.array(started.astype("datetime64[us]"), pa.timestamp("us", "UTC")),
        "message": chosen(MESSAGES, np.where(bad, np.where(victim, 1, 2 + test % 16), 0)),
        "fingerprint": chosen(FINGERPRINTS, np.where(bad, np.where(victim, 1, 2 + test % 16), 0)),
        "signature": chosen(["", "free-memory-at-start", "python-exception"], np.where(bad, np.where(victim, 1, 2), 0)),
        "blame": chosen(["", "gpu-memory", "test"], np.where(bad, np.where(victim, 1, 2), 0)),
        "source": same("report", rows.size),
    }
    return table("attempts", columns)


MESSAGES = [
    "",
    "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory utilization",
    *(
        f"AssertionError: block table {at} holds {at * 7} blocks, expected {at * 7 - 1} after eviction"
        for at in range(16)
    ),
]
FINGERPRINTS = ["", *(f"{at * 2654435761 % 2**64:016x}" for at in range(1, 18))]


def keys(builds: np.ndarray, ingest: np.ndarray) -> dict[str, pa.Array]:
    return {
        "org": same("vllm", builds.size),
        "pipeline": same("ci", builds.size),
        "build": pa.array(builds + 1).cast(pa.string()),
        "ingest": pa.array(ingest),
    }


def same(text: str, count: int) -> pa.Array:
    return pa.repeat(text, count)


def chosen(texts: list[str], index: np.ndarray) -> pa.Array:
    return pa.array(texts).take(pa.array(index))


def table(kind: str, columns: dict[str, pa.Array]) -> pa.Table:
    count = len(columns["ingest"])
    typed = {
        name: columns[name].cast(form) if name in columns else pa.nulls(count, form)
        for name, form in TABLES[kind].items()
    }
    return pa.table(list(typed.values()), schema=file_schema(kind))


@dataclass(frozen=True)
class Plan:
    """The history as a whole, and how many kinds of job a build runs."""

    weeks: int
    builds: int
    each: int
    fleet: Fleet


def rows_of(rng: np.random.Generator, week: int, plan: Plan, version: int) -> Iterator[tuple[str, pa.Table]]:
    """Kind by kind, all rows of one week."""
    each = plan.each
    here = np.arange(plan.builds * week // plan.weeks, plan.builds * (week + 1) // plan.weeks)
    jobs = jobs_of(rng, here, each, plan.fleet.weights)
    count, none = jobs.build.size, len(here)
    created = [BEGIN + timedelta(weeks=week + (at - here[0]) / none) for at in here.tolist()]
    yield (
        "builds",
        table(
            "builds",
            {
                **keys(here, jobs.ingest[::each]),
                "number": pa.array(here + 1),
                "commit": pa.array([f"{at * 2654435761 % 2**64:016x}" * 2 for at in here.tolist()]),
                "branch": same("main", none),
                "source": same("webhook", none),
                "created_at": pa.array(created, pa.timestamp("us", "UTC")),
                "state": same("passed", none),
                "commit_version": pa.array(np.full(none, version)),
            },
        ),
    )
    yield (
        "jobs",
        table(
            "jobs",
            {
                **keys(jobs.build, jobs.ingest),
                "job": jobs.ids,
                "id": jobs.ids,
                "step": chosen([f"step-{at // 4}" for at in range(KINDS_OF_JOB)], jobs.kind),
                "label": chosen([f":pytest: Step {at // 4}" for at in range(KINDS_OF_JOB)], jobs.kind),
                "queue": chosen(["gpu_1", "gpu_4", "H100", "mi325"], jobs.kind % 4),
                "agent": chosen([f"agent-{at}" for at in range(40)], jobs.kind % 40),
                "host": same("host", count),
                "state": chosen(["passed", "failed"], jobs.died.astype(int)),
                "exit_status": pa.array(np.where(jobs.died, -1, 0)),
                "signal_reason": same("", count),
                "soft_failed": pa.array(np.zeros(count, bool)),
                "attempt": pa.array(np.zeros(count, int)),
                "shard": same("", count),
                "command": same("pytest -v -s v1/kv_connector/unit", count),
                "sources": same('["report"]', count),
                "mode": same("all", count),
                "warnings": pa.array(np.zeros(count, int)),
                "warning_texts": same("[]", count),
                "parser_version": same("1", count),
                "signatures_version": same("1", count),
                "fingerprint_version": same("1", count),
                "commit_version": pa.array(np.full(count, version)),
            },
        ),
    )
    yield "attempts", attempts_of(rng, jobs, plan.fleet, week / plan.weeks)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--attempts", type=float, default=20e6)
    parser.add_argument("--builds", type=int, default=20_000)
    parser.add_argument("--weeks", type=int, default=26)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, help="stop before this week")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    each = round(asked.attempts / asked.builds / TESTS_EACH)
    if not 1 <= each <= KINDS_OF_JOB:
        least, most = asked.builds * TESTS_EACH, asked.builds * VARIANTS
        parser.error(f"{asked.builds:,} builds have {least:,} to {most:,} attempts; give other --attempts or --builds")
    root = located(asked.folder)
    made = create_or_open_table(root)
    plan = Plan(asked.weeks, asked.builds, each, fleet(np.random.default_rng(asked.seed)))
    for week in range(asked.first, asked.last or asked.weeks):
        name = f"2026-W{week + 2:02d}"
        rng = np.random.default_rng([asked.seed, week])
        made.update_incremental()
        version = made.version() + 1
        files = [
            write_file(root, (kind, name), rows.slice(start, FILE_ROWS))
            for kind, rows in rows_of(rng, week, plan, version)
            for start in range(0, rows.num_rows, FILE_ROWS)
        ]
        if not committed(root, made, files, version):
            raise SystemExit("somebody else writes into this store")
        print(f"{name}: {len(files)} files", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
