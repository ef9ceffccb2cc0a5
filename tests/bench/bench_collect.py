"""How fast a collection is against a local server that answers after 2 ms, and what a second one costs.

Run it by hand: `.venv/bin/python tests/bench/bench_collect.py`. The server runs in a process of its own, on the
loopback interface. The peer of the same run is the same number of requests, one after another and nothing kept,
which is what a plain script with `requests` does.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import requests

from flake_report.collect.asked import Asked
from flake_report.collect.collector import Collection, Surroundings, collect
from flake_report.collect.listing import Window, list_builds
from flake_report.collect.rest import PipelineApi
from flake_report.collect.servers import Servers
from flake_report.collect.storage import open_storage
from flake_report.collect.tally import Progress
from flake_report.collect.token import Token
from flake_report.collect.transport import Transport
from flake_report.model.evidence import LogMode

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

from collect.server.rest import CREDENTIAL  # noqa: E402  # the server's package lies beside this folder
from collect.server.world import NOON  # noqa: E402  # the same

BUILDS, JOBS, LISTED, LATENCY = 60, 20, 10_000, 0.002
SERVE = "import sys; sys.path.insert(0, sys.argv[1]); from collect.server.large import serve; serve(sys.argv[2:])"


def tell(line: str) -> None:
    """One line of the result."""
    print(line)


def run(archive: str, around: Surroundings) -> tuple[Progress, float]:
    """One collection, and its seconds."""
    what = Collection("acme/ci", Window(NOON + timedelta(days=1)), Asked(LogMode.ALL, ("**/junit*.xml",)))
    began = time.perf_counter()
    counts = collect(what, open_storage(archive), around, warn=tell, told=lambda _progress: None)
    return counts, time.perf_counter() - began


def one_after_another(api: str, number: int) -> float:
    """Seconds of so many plain requests."""
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {CREDENTIAL}"
        began = time.perf_counter()
        for _ in range(number):
            session.get(f"{api}/organizations/acme", timeout=10).raise_for_status()
        return time.perf_counter() - began


def measure_collecting(archive: str) -> None:
    """The first and the second collection of one pipeline."""
    with serving(BUILDS, JOBS) as around:
        first, seconds = run(archive, around)
        again, repeated = run(archive, around)
        plain = one_after_another(around.servers.api, 500) / 500
    asked = first.requests + first.artifacts  # an artifact is asked for at the API, then fetched from the storage
    speed = f"{first.jobs / seconds:,.0f} jobs/s, {asked / seconds:,.0f} requests/s"
    tell(f"{first.jobs:6,} jobs in {seconds:.1f} s: {speed}")
    tell(f"       {plain * asked / seconds:.1f} times as fast as {asked:,} requests one after another")
    tell(
        f"again: {again.requests} requests, {repeated:.1f} s for {again.builds:,} builds, {again.unchanged:,} unchanged"
    )


def measure_listing() -> None:
    """Ten thousand builds: requests, and the most memory that our side held."""
    with serving(LISTED, 1) as around, Transport(around.clock) as transport:
        api = PipelineApi(transport, around.servers.api, around.token, "acme", "ci")
        tracemalloc.start()
        began = time.perf_counter()
        builds = sum(1 for _ in list_builds(api, Window(NOON + timedelta(days=1))))
        seconds, peak = time.perf_counter() - began, tracemalloc.get_traced_memory()[1]
    tell(f"{builds:6,} builds listed in {seconds:.1f} s, {transport.requests} requests, {peak / 1e6:.1f} MB at most")


@contextmanager
def serving(builds: int, jobs: int) -> Iterator[Surroundings]:
    """A server in a process of its own, and how to reach it."""
    arguments = [sys.executable, "-c", SERVE, str(TESTS), str(builds), str(jobs), str(LATENCY)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        try:
            yield Surroundings(Token(CREDENTIAL, "the bench"), Servers.from_env({"BUILDKITE_API_URL": address}))
        finally:
            server.stdin.close()


def main() -> None:
    """Print it all."""
    with tempfile.TemporaryDirectory() as folder:
        measure_collecting(folder)
    measure_listing()


if __name__ == "__main__":
    main()
