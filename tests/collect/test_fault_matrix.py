"""Every request of a collection in turn fails in every way: the archive ends the same, and nobody is bothered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collect.server.buildkite import Buildkite
from collect.server.wire import Fault, Reply, Request
from collect.server.world import World
from flake_report.collect import buildwork, listing, rest

Collect = Callable[..., Any]
JSON = {"Content-Type": "application/json"}
HTML = {"Content-Type": "text/html"}
LIMITED = b'{"message": "You have exceeded your API rate limit.", "scope": "rest_user", "limit": 50, "reset": 42}'

FAULTS = [
    Fault("500", Reply(500, b'{"message": "Internal Server Error"}', JSON)),
    Fault("502 of a proxy", Reply(502, b"<html>Bad Gateway</html>", HTML)),
    Fault("503 with a time", Reply(503, b"", {"Retry-After": "3"})),
    Fault("504", Reply(504)),
    Fault("408", Reply(408)),
    Fault("429 with its body", Reply(429, LIMITED, JSON)),
    Fault("429 with headers alone", Reply(429, b"", {"RateLimit-Remaining": "0", "RateLimit-Reset": "17"})),
    Fault("429 with a time", Reply(429, b"slow down", {"Retry-After": "5"})),
    Fault("no answer", cut=-1),
    Fault("no byte of the body", cut=0),
    Fault("half a body", cut=4),
    Fault("chunks that end too early", cut=4, chunked=True),
    Fault("a silent server", stall=0.6),
    Fault("a page for humans", Reply(200, b"<html>Please accept our terms</html>", HTML)),
]
ONLY_THE_CONTENT_TELLS = [
    Fault("half a body of unknown length", cut=4, unannounced=True),
    Fault("nothing, and all is well", Reply(200)),
]
"""Of a log no content can tell: any text may be a log."""
OF_THE_STORAGE = [Fault("an expired signature", Reply(403)), Fault("two kinds of credentials", Reply(400))]


@pytest.fixture
def world() -> World:
    """Builds with all that a collection asks for; with pages of two every list has several."""
    world = World()
    for number in (7, 8):
        jobs = [world.add_job(f"{number}/{name}", log=f"log of {name}\n".encode()) for name in ("a", "b", "c")]
        jobs[0].update(retried=True, retried_in_job_id=jobs[1]["id"])
        world.add_build(number, *jobs)
        for job in jobs[: number - 5]:
            world.add_artifact(job, "junit.xml", f"<testsuite name='{job['name']}'/>".encode())
    world.add_build(9, world.add_job("9/alone"))
    return world


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "PAGE", 2)
    monkeypatch.setattr(listing, "PAGE", 2)
    monkeypatch.setattr(listing, "MANY", 2)
    monkeypatch.setattr(buildwork, "MANY", 2)


def tree(archive: Path) -> dict[str, bytes]:
    return {path.relative_to(archive).as_posix(): path.read_bytes() for path in archive.rglob("*") if path.is_file()}


@pytest.fixture
def expected(collect_into: Collect, buildkite: Buildkite, tmp_path: Path) -> dict[str, bytes]:
    """The archive of a day without faults."""
    progress, warnings = collect_into(tmp_path / "expected")
    assert (progress.jobs, progress.logs, progress.artifacts, warnings) == (7, 7, 5, [])
    paths = {request.path.rsplit("/", 1)[-1] for request in buildkite.api.seen}
    assert {"builds", "jobs", "log", "artifacts", "download"} <= paths
    return tree(tmp_path / "expected")


@pytest.mark.parametrize("fault", [*FAULTS, *ONLY_THE_CONTENT_TELLS], ids=lambda fault: fault.name)
def test_a_request_to_the_api_that_fails_once_changes_nothing(
    fault: Fault, expected: dict[str, bytes], buildkite: Buildkite, collect_into: Collect, tmp_path: Path
) -> None:
    requests = len(buildkite.api.seen)
    skipped = 0
    for number in range(1, requests + 1):
        buildkite.api.seen.clear()
        struck: list[Request] = []

        def strike(at: int, request: Request, number: int = number, struck: list[Request] = struck) -> Fault | None:
            if at != number or (fault in ONLY_THE_CONTENT_TELLS and request.path.endswith("/log")):
                return None
            struck.append(request)
            return fault

        buildkite.api.fault = strike
        progress, warnings = collect_into(tmp_path / str(number))
        assert warnings == [], (number, struck)
        assert progress.missed == 0
        assert tree(tmp_path / str(number)) == expected, (number, struck)
        skipped += not struck
    assert skipped < requests / 2


@pytest.mark.parametrize("fault", [*FAULTS, *ONLY_THE_CONTENT_TELLS, *OF_THE_STORAGE], ids=lambda fault: fault.name)
def test_a_request_to_the_storage_that_fails_once_changes_nothing(
    fault: Fault, expected: dict[str, bytes], buildkite: Buildkite, collect_into: Collect, tmp_path: Path
) -> None:
    for number in range(1, len(buildkite.storage.seen) + 1):
        buildkite.storage.seen.clear()
        buildkite.storage.fault = lambda at, _request, number=number: fault if at == number else None
        progress, warnings = collect_into(tmp_path / str(number))
        assert (warnings, progress.missed) == ([], 0)
        assert tree(tmp_path / str(number)) == expected


def test_a_collection_in_which_every_second_request_fails_ends_the_same(
    expected: dict[str, bytes], buildkite: Buildkite, collect_into: Collect, tmp_path: Path
) -> None:
    faults = [fault for fault in FAULTS if not fault.stall]
    buildkite.api.fault = lambda at, _request: faults[at // 2 % len(faults)] if at % 2 else None
    progress, warnings = collect_into(tmp_path / "again")
    assert (warnings, progress.missed) == ([], 0)
    assert tree(tmp_path / "again") == expected


@pytest.mark.parametrize("lasting", [500, 404], ids=["a failure", "a refusal"])
def test_whichever_path_fails_for_good_the_next_collection_makes_it_whole(
    lasting: int, expected: dict[str, bytes], buildkite: Buildkite, collect_into: Collect, tmp_path: Path
) -> None:
    """A log or an artifact that answers 404 is gone, so those paths are left out there."""
    paths = {request.path for request in buildkite.api.seen if not request.path.endswith("/builds")}
    if lasting == 404:
        paths = {path for path in paths if not path.endswith(("/log", "/download"))}
    for at, path in enumerate(sorted(paths)):
        archive = tmp_path / str(at)
        fault = Fault("lasting", Reply(lasting))
        buildkite.api.fault = lambda _at, request, path=path, fault=fault: fault if request.path == path else None
        progress, warnings = collect_into(archive)
        assert progress.missed >= 1
        assert warnings
        assert tree(archive) != expected
        buildkite.api.fault = lambda _at, _request: None
        progress, warnings = collect_into(archive)
        assert (progress.missed, warnings) == (0, [])
        assert tree(archive) == expected, path
