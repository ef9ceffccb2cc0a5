"""The logs that a URL names, from a real local server: as a visitor without a token, and through REST with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from collect.server.buildkite import Buildkite
from collect.server.clock import FakeTime
from collect.server.wire import Fault, Reply
from collect.server.world import World, made_id
from flake_report.collect.joblogs import job_logs
from flake_report.collect.token import Token, find_token
from flake_report.collect.transport import Patience
from flake_report.errors import FlakeReportError

Read = Callable[..., list[tuple[str, bytes]]]


@pytest.fixture
def build(world: World) -> dict[str, Any]:
    """A red build: a hard failure, a soft one, a retried one that then passed, jobs that did not fail, a wait."""
    wait = {**world.add_job("wait", log=None), "type": "waiter", "state": "failed"}
    return world.add_build(
        7,
        world.add_job("soft", state="failed", soft_failed=True, log=b"soft log\n"),
        world.add_job("kv :nvidia:", state="failed", log=b"kv log\n"),
        world.add_job("flaky#0", state="failed", retried=True, log=b"first try\n"),
        world.add_job("flaky#1", log=b"second try\n"),
        world.add_job("running", state="running"),
        world.add_job("canceled", state="canceled", log=None),
        wait,
        state="failed",
    )


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def read(buildkite: Buildkite, time: FakeTime, warnings: list[str]) -> Read:
    def call(url: str, *, token: bool = False) -> list[tuple[str, bytes]]:
        known = find_token(buildkite.env) if token else None
        patience = Patience(connect=2, read=2)
        blobs = job_logs(
            url, env=buildkite.public_env, token=known, warn=warnings.append, clock=time.clock, patience=patience
        )
        return [(blob.name, b"".join(blob.read())) for blob in blobs]

    return call


BUILD = "https://buildkite.com/acme/ci/builds/7"


def job_of(build: dict[str, Any], name: str) -> str:
    return next(job["id"] for job in build["jobs"] if job["name"] == name)


@pytest.mark.parametrize("token", [False, True], ids=["as a visitor", "with a token"])
def test_a_build_gives_its_failed_jobs_those_that_failed_it_first(
    build: dict[str, Any], buildkite: Buildkite, read: Read, *, token: bool
) -> None:
    page = f"{buildkite.web.url}/acme/ci/builds/7"
    assert read(BUILD, token=token) == [
        (f"kv :nvidia: {page}#{job_of(build, 'kv :nvidia:')}", b"kv log\n"),
        (f"flaky#0 {page}#{job_of(build, 'flaky#0')}", b"first try\n"),
        (f"soft {page}#{job_of(build, 'soft')} (soft failed)", b"soft log\n"),
    ]


@pytest.mark.parametrize("token", [False, True], ids=["as a visitor", "with a token"])
def test_a_job_gives_its_log_whatever_came_of_it(
    build: dict[str, Any], buildkite: Buildkite, read: Read, *, token: bool
) -> None:
    passed = job_of(build, "flaky#1")
    assert read(f"{BUILD}#{passed}", token=token) == [
        (f"{buildkite.web.url}/acme/ci/builds/7#{passed}", b"second try\n")
    ]


@pytest.mark.usefixtures("build")
@pytest.mark.parametrize("token", [False, True], ids=["as a visitor", "with a token"])
def test_a_step_gives_all_its_jobs(read: Read, *, token: bool) -> None:
    found = read(f"{BUILD}/list?sid={made_id('step', 'flaky')}", token=token)
    assert [log for _, log in found] == [b"first try\n", b"second try\n"]
    with pytest.raises(FlakeReportError, match=r"acme/ci build 7: has no job of the step"):
        read(f"{BUILD}/list?sid={made_id('step', 'nowhere')}", token=token)


@pytest.mark.usefixtures("build")
def test_with_a_token_the_website_is_not_asked_and_without_one_the_api_is_not(buildkite: Buildkite, read: Read) -> None:
    read(BUILD, token=True)
    assert buildkite.web.seen == []
    read(BUILD)
    assert len(buildkite.api.seen) == 4
    paths = [request.path for request in buildkite.web.seen]
    assert paths[:2] == ["/acme/ci/builds/7", "/acme/ci/builds/7/data/jobs"]
    assert all("authorization" not in request.headers for request in buildkite.web.seen)


def test_a_green_build_has_nothing_to_explain(world: World, read: Read) -> None:
    world.add_build(7, world.add_job("a"))
    assert read(BUILD) == []


@pytest.mark.usefixtures("build")
def test_a_private_pipeline_says_so_and_where_a_token_goes(buildkite: Buildkite, read: Read) -> None:
    buildkite.pages.private = True
    with pytest.raises(FlakeReportError, match="acme/ci build 7: is private, or there is no such build") as raised:
        read(BUILD)
    assert "BUILDKITE_API_TOKEN" in str(raised.value)


@pytest.mark.parametrize("url", ["https://buildkite.com/acme/ci/builds/8", "https://buildkite.com/acme/cy/builds/7"])
@pytest.mark.usefixtures("build")
def test_a_build_that_is_not_there_is_named(read: Read, url: str) -> None:
    with pytest.raises(FlakeReportError, match="no such build"):
        read(url)


@pytest.mark.usefixtures("build")
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(404), "its list of jobs answers HTTP 404"),
        (Reply(200, b"<html>", {"Content-Type": "text/html"}), "its list of jobs has no `records`"),
        (Reply(200, b"[]", {"Content-Type": "application/json"}), "its list of jobs has no `records`"),
        (Reply(200, b'{"jobs": []}', {"Content-Type": "application/json"}), "its list of jobs has no `records`"),
        (Reply(200, b'{"records": [{"uuid": 1}, 3]}'), "its list of jobs has none with an `id`"),
    ],
)
def test_a_website_that_has_changed_is_told_with_the_way_round(
    buildkite: Buildkite, read: Read, reply: Reply, said: str
) -> None:
    buildkite.pages.changed = reply
    with pytest.raises(FlakeReportError, match="Buildkite's website has changed") as raised:
        read(BUILD)
    assert said in str(raised.value)
    assert "BUILDKITE_API_TOKEN" in str(raised.value)


def test_a_page_in_place_of_a_log_is_no_log(build: dict[str, Any], buildkite: Buildkite, read: Read) -> None:
    page = Fault("page", Reply(200, b"<html>We moved</html>", {"Content-Type": "text/html"}))
    buildkite.web.fault = lambda _number, request: page if request.path.endswith("/download") else None
    with pytest.raises(FlakeReportError, match="a page came in place of the log"):
        read(f"{BUILD}#{job_of(build, 'soft')}")


@pytest.mark.parametrize("token", [False, True], ids=["as a visitor", "with a token"])
def test_a_job_without_a_log_is_named(build: dict[str, Any], read: Read, *, token: bool) -> None:
    with pytest.raises(FlakeReportError, match=f"no log of job {job_of(build, 'canceled')}"):
        read(f"{BUILD}#{job_of(build, 'canceled')}", token=token)


@pytest.mark.usefixtures("build")
def test_a_list_that_is_only_the_first_page_is_told(buildkite: Buildkite, read: Read, warnings: list[str]) -> None:
    buildkite.pages.more = True
    assert len(read(BUILD)) == 3
    assert warnings == ["acme/ci build 7: the website lists only the first 7 jobs; with a token all are read"]


@pytest.mark.usefixtures("build")
def test_a_token_of_another_organization_reads_a_public_pipeline_as_a_visitor(buildkite: Buildkite, read: Read) -> None:
    buildkite.rest.scopes = frozenset()
    assert [log for _, log in read(BUILD, token=True)] == [b"kv log\n", b"first try\n", b"soft log\n"]


@pytest.mark.usefixtures("build")
def test_where_neither_way_may_read_the_missing_scope_is_named(buildkite: Buildkite, read: Read) -> None:
    buildkite.rest.scopes = frozenset()
    buildkite.pages.private = True
    with pytest.raises(FlakeReportError, match="it needs the scope read_builds"):
        read(BUILD, token=True)


def test_a_refused_token_is_told_and_not_shown(
    build: dict[str, Any], buildkite: Buildkite, warnings: list[str]
) -> None:
    token = Token("stale-word", "x")
    with pytest.raises(FlakeReportError, match="Buildkite refuses the token") as raised:
        list(job_logs(BUILD, env=buildkite.public_env, token=token, warn=warnings.append))
    assert "stale-word" not in str(raised.value)
    assert build["number"] == 7


@pytest.mark.usefixtures("build")
def test_a_failing_server_is_asked_again(buildkite: Buildkite, read: Read, time: FakeTime) -> None:
    faults = [Fault("500", Reply(500)), Fault("gone", cut=-1), Fault("cut", cut=3), Fault("busy", Reply(429))]
    buildkite.web.fault = lambda number, _request: faults[number // 2 - 1] if number in (2, 4, 6, 8) else None
    assert len(read(BUILD)) == 3
    assert time.slept > 60  # the 429 names no time, so a whole minute


@pytest.mark.usefixtures("build")
def test_a_server_that_never_answers_is_told_in_the_end(buildkite: Buildkite, read: Read, time: FakeTime) -> None:
    buildkite.web.fault = lambda _number, _request: Fault("503", Reply(503, b"", {"Retry-After": "7"}))
    with pytest.raises(FlakeReportError, match=r"builds/7: the server failed \(HTTP 503\), 6 times"):
        read(BUILD)
    assert time.slept == 35
    assert len(buildkite.web.seen) == 6


def test_a_log_is_fetched_when_it_is_read_and_once(
    build: dict[str, Any], buildkite: Buildkite, warnings: list[str]
) -> None:
    url = f"{BUILD}#{job_of(build, 'soft')}"
    [blob] = list(job_logs(url, env=buildkite.public_env, token=None, warn=warnings.append))
    assert buildkite.web.seen == []
    assert b"".join(blob.read()) == b"".join(blob.read()) == b"soft log\n"
    assert len(buildkite.web.seen) == 2
