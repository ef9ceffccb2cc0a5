"""Stopped at any moment, in any way, a collection goes on where it was; two at once do no harm."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collect.server.buildkite import Buildkite
from collect.server.wire import Fault, Reply, Request
from collect.server.world import World
from flake_report.collect.archive import read_archive
from flake_report.collect.storage import open_storage

Collect = Callable[..., Any]


@pytest.fixture
def world() -> World:
    """Twelve builds of four jobs, each with a report."""
    world = World()
    for number in range(1, 13):
        jobs = [world.add_job(f"{number}/{name}", log=f"log {number} {name}\n".encode() * 50) for name in "abcd"]
        for job in jobs:
            world.add_artifact(job, "junit.xml", b"<testsuite/>")
        world.add_build(number, *jobs)
    return world


def tree(archive: Path) -> dict[str, bytes]:
    return {
        path.relative_to(archive).as_posix(): path.read_bytes() for path in archive.rglob("*.zst") if path.is_file()
    }


def contents(request: Request) -> bool:
    """Whether a request brings a log or an artifact, and no list."""
    return request.path.endswith(("/log", "/download"))


def start(buildkite: Buildkite, archive: Path) -> subprocess.Popen:
    command = [
        sys.executable,
        "-m",
        "flake_report",
        "collect",
        "acme/ci",
        "--archive",
        str(archive),
        "--since",
        "2020-01-01",
    ]
    return subprocess.Popen(
        command, env={**buildkite.env, "PATH": "/usr/bin"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
def test_a_collection_killed_again_and_again_fetches_nothing_twice(
    buildkite: Buildkite, collect_into: Collect, tmp_path: Path, how: signal.Signals
) -> None:
    collect_into(tmp_path / "expected", artifacts=("**/*junit*.xml", "**/test-results/**/*.xml", "**/*attempts*.jsonl"))
    buildkite.api.seen.clear()
    buildkite.api.latency = 0.02
    archive, chance, stopped = tmp_path / "archive", random.Random(7), 0  # always the same moments
    fetched: Counter[str] = Counter()
    for _ in range(10):
        before = set(tree(archive)) if archive.exists() else set()
        running = start(buildkite, archive)
        goal, enough = chance.randrange(5, 40), threading.Event()
        buildkite.api.fault = lambda number, _request, goal=goal, enough=enough: (
            enough.set() if number >= goal else None
        )
        while running.poll() is None and not enough.wait(0.005):
            pass
        stopped += running.poll() is None
        running.send_signal(how)
        running.communicate(timeout=30)
        for request in buildkite.api.seen:
            if contents(request):
                job, name = request.path.split("/")[9], "log.zst" if request.path.endswith("/log") else "junit.xml.zst"
                assert not any(job in path and path.endswith(name) for path in before), request.path
                fetched[request.path] += 1
        buildkite.api.seen.clear()
    assert stopped >= 3
    running = start(buildkite, archive)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err.decode() + out.decode()
    assert tree(archive) == tree(tmp_path / "expected")
    assert not list(archive.rglob("*.unfinished"))
    assert sum(fetched.values()) <= 96 + 10 * 6  # each once, and what the threads waited for when they died


def test_two_collectors_of_one_archive_do_no_harm(buildkite: Buildkite, collect_into: Collect, tmp_path: Path) -> None:
    collect_into(tmp_path / "expected")
    buildkite.api.latency = 0.003
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(collect_into(tmp_path / "archive"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [warnings for _, warnings in found] == [[], []]
    assert tree(tmp_path / "archive") == tree(tmp_path / "expected")


def test_a_disk_that_is_full_stops_the_collection_and_the_next_one_goes_on(
    buildkite: Buildkite, collect_into: Collect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collect_into(tmp_path / "expected")
    room, real = [40], Path.replace

    def replace(path: Path, target: Path) -> Path:
        room[0] -= 1
        if room[0] < 0:
            raise OSError(28, "No space left on device")
        return real(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(Exception, match=r"cannot be written \(No space left on device\)"):
        collect_into(tmp_path / "archive")
    monkeypatch.setattr(Path, "replace", real)
    buildkite.api.seen.clear()
    collect_into(tmp_path / "archive")
    assert tree(tmp_path / "archive") == tree(tmp_path / "expected")
    assert not list((tmp_path / "archive").rglob("*.unfinished"))


def test_a_refusal_in_the_midst_ends_it_at_once(buildkite: Buildkite, collect_into: Collect, tmp_path: Path) -> None:
    """A token that is revoked while a collection runs: nobody goes on asking with it."""
    revoked = Fault("revoked", Reply(401, b'{"message": "Authentication required"}'))
    buildkite.api.fault = lambda number, _request: revoked if number > 20 else None
    with pytest.raises(Exception, match="Buildkite refuses the token"):
        collect_into(tmp_path)
    assert len(buildkite.api.seen) <= 20 + 6  # one a thread
    buildkite.api.fault = lambda _number, _request: None
    buildkite.api.seen.clear()
    collect_into(tmp_path)
    warnings: list[str] = []
    assert len(list(read_archive(open_storage(str(tmp_path)), warnings.append))) == 48
    assert warnings == []


def test_requests_overlap_and_none_is_wasted(buildkite: Buildkite, collect_into: Collect, tmp_path: Path) -> None:
    """What makes it fast: a list a build, a log and an artifact a job, several at a time."""
    at_once, most, lock = 0, 0, threading.Lock()
    real = buildkite.rest

    def counting(request: Request) -> Reply:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        threading.Event().wait(0.01)
        with lock:
            at_once -= 1
        return real(request)

    buildkite.api.app = counting
    progress, _ = collect_into(tmp_path)
    assert most >= 4
    assert progress.requests == len(buildkite.api.seen) == 1 + 12 * (1 + 4 * 2)
