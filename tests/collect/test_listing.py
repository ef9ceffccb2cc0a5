"""Windows, pages and cursors, against a server that answers 400 to whoever goes too deep."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from collect.server.buildkite import Buildkite, running
from collect.server.clock import FakeTime
from collect.server.large import large_world
from collect.server.rest import CREDENTIAL
from collect.server.wire import Fault, Reply
from collect.server.world import NOON, World, stamp
from flake_report.collect.listing import Window, list_builds
from flake_report.collect.rest import PipelineApi
from flake_report.collect.token import Token
from flake_report.collect.transport import Patience, Transport
from flake_report.errors import FlakeReportError

List = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def transport(time: FakeTime) -> Transport:
    return Transport(time.clock, Patience(tries=2, connect=2, read=2))


def api_of(buildkite: Buildkite, transport: Transport) -> PipelineApi:
    return PipelineApi(transport, f"{buildkite.api.url}/v2", Token(CREDENTIAL, "x"), "acme", "ci")


@pytest.fixture
def listed(buildkite: Buildkite, transport: Transport) -> List:
    window = Window(NOON)
    return lambda window=window: list(list_builds(api_of(buildkite, transport), window))


def fill(world: World, builds: int, apart: timedelta = timedelta(minutes=1)) -> None:
    world.builds = [world.build(number, age=apart * (builds + 1 - number)) for number in range(builds, 0, -1)]


@pytest.mark.parametrize("builds", [0, 1, 99, 100, 101, 250])
def test_every_build_comes_once_newest_first(world: World, listed: List, buildkite: Buildkite, builds: int) -> None:
    fill(world, builds)
    assert [build["number"] for build in listed()] == list(range(builds, 0, -1))
    assert len(buildkite.api.seen) == max(-(-builds // 100), 1)


@pytest.mark.parametrize("deepest", [100, 200, 300, 1000])
def test_a_listing_that_may_not_go_deep_goes_on_in_a_new_window(
    world: World, listed: List, buildkite: Buildkite, deepest: int
) -> None:
    fill(world, 950)
    world.deepest = deepest
    assert [build["number"] for build in listed()] == list(range(950, 0, -1))
    ends = [request.one("created_to") for request in buildkite.api.seen]
    assert ends == sorted(ends, reverse=True)
    assert len(buildkite.api.seen) <= 10 + 2 + 950 // deepest


def test_builds_of_one_moment_are_not_lost_where_a_window_ends(world: World, listed: List) -> None:
    fill(world, 300)
    for build in world.builds[90:170]:
        build["created_at"] = world.builds[90]["created_at"]
    world.deepest = 100
    assert sorted(build["number"] for build in listed()) == list(range(1, 301))


def test_more_builds_of_one_moment_than_can_be_listed_are_told(world: World, listed: List) -> None:
    fill(world, 300)
    for build in world.builds:
        build["created_at"] = world.builds[0]["created_at"]
    world.deepest = 100
    with pytest.raises(FlakeReportError, match=r"more builds of one moment|this deep is not supported"):
        listed()


def test_a_build_that_arrives_meanwhile_pushes_nothing_on(world: World, listed: List, buildkite: Buildkite) -> None:
    fill(world, 250)
    api = buildkite.rest

    def and_one_more(request: Any) -> Reply:
        reply = api(request)
        newest = world.builds[0]["number"] + 1
        world.builds.insert(0, world.build(newest, age=timedelta(minutes=-newest)))
        return reply

    buildkite.api.app = and_one_more
    assert [build["number"] for build in listed()] == list(range(250, 0, -1))


def test_a_page_that_repeats_a_build_gives_it_once(world: World, listed: List) -> None:
    fill(world, 250)
    world.builds.insert(120, world.builds[3])
    assert [build["number"] for build in listed()] == list(range(250, 0, -1))


def test_the_window_has_two_ends(world: World, listed: List) -> None:
    fill(world, 100, timedelta(hours=1))
    window = Window(NOON - timedelta(hours=10), NOON - timedelta(hours=20))
    assert [build["number"] for build in listed(window)] == list(range(90, 80, -1))


def test_where_the_server_cannot_make_a_page_with_jobs_it_is_asked_for_one_without(
    world: World, listed: List, buildkite: Buildkite
) -> None:
    world.add_build(7, world.add_job("a"))
    timed_out = Fault("504", Reply(504))
    buildkite.api.fault = lambda _number, request: timed_out if request.one("exclude_jobs") != "true" else None
    [build] = listed()
    assert (build["number"], "jobs" in build) == (7, False)
    buildkite.api.fault = lambda _number, _request: timed_out
    with pytest.raises(FlakeReportError, match=r"the server failed \(HTTP 504\), 2 times"):
        listed()


def test_a_400_of_the_first_page_is_no_matter_of_depth(world: World, listed: List, buildkite: Buildkite) -> None:
    fill(world, 3)
    buildkite.api.fault = lambda _number, _request: Fault("400", Reply(400, b'{"message": "branch is too long"}'))
    with pytest.raises(FlakeReportError, match="branch is too long"):
        listed()


def test_builds_without_a_readable_time_are_listed_all_the_same(world: World, listed: List) -> None:
    fill(world, 3)
    world.builds[1]["created_at"] = stamp(NOON - timedelta(days=1))[:4]
    assert [build["number"] for build in listed()] == [3, 2, 1]


def test_ten_thousand_builds_cost_a_request_a_hundred_and_little_memory(time: FakeTime) -> None:
    """The page in hand, and an id for each build that was seen; as a whole the builds are 15 MB of JSON."""
    with running(large_world(10_000, 1)) as buildkite, Transport(time.clock) as transport:
        builds = list_builds(api_of(buildkite, transport), Window(NOON + timedelta(days=1)))
        next(builds)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        grown = 0
        for number, _ in enumerate(builds):
            if number % 500 == 0:
                grown = max(grown, tracemalloc.get_traced_memory()[0] - before)
        tracemalloc.stop()
        assert number == 9_998
        assert len(buildkite.api.seen) == 100
        assert grown < 8_000_000
