"""All of the simulated Buildkite: API, storage and website, each on a port of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .meter import Meter
from .rest import CREDENTIAL, Api
from .storage import Storage
from .website import Pages
from .wire import Server
from .world import World


@dataclass(frozen=True)
class Buildkite:
    world: World
    rest: Api
    pages: Pages
    api: Server
    storage: Server
    web: Server

    @property
    def env(self) -> dict[str, str]:
        """The environment of somebody with a token."""
        return {**self.public_env, "BUILDKITE_API_TOKEN": CREDENTIAL}

    @property
    def public_env(self) -> dict[str, str]:
        return {"BUILDKITE_API_URL": self.api.url, "BUILDKITE_WEB_URL": self.web.url}


@contextmanager
def running(world: World, meter: Meter | None = None) -> Iterator[Buildkite]:
    pages = Pages(world)
    with Server(Storage(world)) as storage, Server(pages) as web:
        rest = Api(world, storage.url, meter)
        with Server(rest) as api:
            yield Buildkite(world, rest, pages, api, storage, web)
