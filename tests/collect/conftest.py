"""Builds and jobs in Buildkite's REST shape, as small as a test needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import requests

from collect.server.buildkite import Buildkite, running
from collect.server.clock import FakeTime
from collect.server.world import NOON, World, made_id
from flake_report.collect.asked import Asked
from flake_report.collect.collector import Collection, Surroundings, collect
from flake_report.collect.listing import Window
from flake_report.collect.servers import Servers
from flake_report.collect.storage import open_storage
from flake_report.collect.tally import Progress
from flake_report.collect.token import find_token
from flake_report.collect.transport import Patience
from flake_report.model.evidence import LogMode

BUILD = {
    "id": "0196a0f3-aaaa-4000-8000-000000000007",
    "number": 7,
    "state": "failed",
    "commit": "5f0c9d1e0c3b7a6f00000000000000000000beef",
    "branch": "main",
    "source": "webhook",
    "created_at": "2026-04-15T18:20:11.532Z",
}
JOB = {
    "id": "job-1",
    "type": "script",
    "name": ":nvidia: V1 KV Connectors",
    "step_key": "kv-connectors",
    "agent_query_rules": ["queue=gpu_1_queue"],
    "state": "failed",
    "command": "pytest -v v1/kv_connector/unit",
    "soft_failed": False,
    "exit_status": 1,
    "signal_reason": None,
    "started_at": "2026-04-15T18:21:00.000Z",
    "finished_at": "2026-04-15T18:45:01.250Z",
    "retried": False,
    "retried_in_job_id": None,
    "retries_count": None,
    "retry_source": None,
    "retry_type": None,
    "parallel_group_index": None,
    "parallel_group_total": None,
    "agent": {"name": "l4-sim-1", "hostname": "host-1", "meta_data": ["queue=gpu_1_queue", "gpu=l4"]},
}


@pytest.fixture
def rest_build() -> Callable[..., dict[str, Any]]:
    """A build with other values for some fields."""
    return lambda **fields: {**BUILD, **fields}


@pytest.fixture
def rest_job() -> Callable[..., dict[str, Any]]:
    """A job with other values for some fields."""
    return lambda **fields: {**JOB, **fields}


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def buildkite(world: World) -> Iterator[Buildkite]:
    with running(world) as servers:
        yield servers


@pytest.fixture(scope="session")
def object_store() -> Iterator[str]:
    """The address of a real S3 server with one bucket called `bucket`."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    requests.put(f"{address}/bucket", timeout=10).raise_for_status()
    yield address
    server.stop()


@pytest.fixture
def bucket(object_store: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """The URL of an empty folder in that bucket; the environment holds the address and (any) credentials."""
    for name, value in {
        "AWS_ENDPOINT_URL": object_store,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "anybody",
        "AWS_SECRET_ACCESS_KEY": "anything",
    }.items():
        monkeypatch.setenv(name, value)
    return f"s3://bucket/{made_id(request.node.nodeid)}"


Collect = Callable[..., tuple[Progress, list[str]]]


@pytest.fixture
def collect_into(buildkite: Buildkite, time: FakeTime) -> Collect:
    """Collect the world into a folder or URL, as the person with the token; the counts, and the warnings."""

    def call(archive: object, *, since: timedelta | None = None, **asked: Any) -> tuple[Progress, list[str]]:
        warnings: list[str] = []
        found = collect(
            Collection(
                f"{buildkite.world.org}/{buildkite.world.pipeline}",
                Window(NOON, NOON - since if since else None, asked.get("branch")),
                Asked(LogMode(asked.get("logs", "all")), tuple(asked.get("artifacts", ("**/*.xml",)))),
                asked.get("budget", 1.0),
            ),
            open_storage(str(archive)),
            Surroundings(
                find_token(buildkite.env), Servers.from_env(buildkite.env), time.clock, Patience(connect=2, read=0.3)
            ),
            warn=warnings.append,
            told=asked.get("told", lambda _progress: None),
        )
        return found, warnings

    return call
