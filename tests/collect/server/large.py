"""A large pipeline in a process of its own, for measuring."""

from __future__ import annotations

import sys
from datetime import timedelta

from .buildkite import running
from .world import World

LINE = b"\x1b_bk;t=1745322209921\x07tests/unit/test_a.py::test_%d PASSED\r\r\n"


def large_world(builds: int, jobs: int) -> World:
    """Green builds, one an hour; each job has a log of 20 kB and a report."""
    world = World()
    log = b"".join(LINE % number for number in range(350))
    report = b"<testsuite>" + b'<testcase classname="tests.unit.test_a" name="test"/>' * 100 + b"</testsuite>"
    for number in range(1, builds + 1):
        made = [world.add_job(f"{number}/unit{place}", log=log) for place in range(jobs)]
        for job in made:
            world.add_artifact(job, "junit.xml", report)
        world.builds.append(world.build(number, *made, age=timedelta(hours=builds - number)))
    world.builds.reverse()
    return world


def serve(arguments: list[str]) -> None:
    """Print the API's address, and run until standard input ends."""
    builds, jobs, latency = int(arguments[0]), int(arguments[1]), float(arguments[2])
    with running(large_world(builds, jobs)) as buildkite:
        for server in (buildkite.api, buildkite.storage):
            server.latency = latency
            server.keep = False
        print(buildkite.api.url, flush=True)  # noqa: T201  # the parent reads it
        sys.stdin.read()
