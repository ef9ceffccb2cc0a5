"""Brings builds, jobs, logs and artifacts of one pipeline into the archive, and nothing of them twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from flake_report.errors import FlakeReportError

from .archive_writer import ArchiveWriter
from .asked import Asked
from .buildwork import BuildWork
from .clock import Clock
from .crew import Crew
from .files import Warn
from .jobwork import Means
from .limits import RateLimits
from .listing import Window, list_builds
from .rest import PipelineApi
from .servers import Servers
from .storage import Storage
from .stored_names import is_folder_name
from .tally import Progress, Tally
from .token import Token
from .transport import Patience, Transport

_THREADS = 6  # enough to hide the network's latency; more only get in each other's way
_WAITING = 64  # builds and jobs in hand at once: their objects are what memory holds


@dataclass(frozen=True, slots=True)
class Collection:
    """What to collect. `pipeline` is ORG/PIPELINE; `budget` the share of each rate limit that may be used up."""

    pipeline: str
    window: Window
    asked: Asked
    budget: float = 1.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """With what, and by what clock."""

    token: Token
    servers: Servers = field(default_factory=Servers)
    clock: Clock = field(default_factory=Clock)
    patience: Patience = field(default_factory=Patience)


def collect(
    what: Collection, storage: Storage, around: Surroundings, *, warn: Warn, told: Callable[[Progress], None]
) -> Progress:
    """Bring what is new into the archive; `told` hears of every step.

    A job or build that cannot be had now is warned about, counted as missed, and left to the next collection, which
    goes on where this one ended, however it ended. Raises `FlakeReportError` where nothing can be had: a wrong slug,
    a token without the scope, an archive that cannot be written to.
    """
    org, slug = split_pipeline(what.pipeline)
    with Transport(around.clock, around.patience, RateLimits(around.clock, what.budget)) as transport:
        api = PipelineApi(transport, around.servers.api, around.token, org, slug)
        tally = Tally(told, lambda: transport.requests)
        transport.on_wait = tally.wait
        means = Means(api, storage, ArchiveWriter(storage, org, slug), what.asked, tally, warn)
        with Crew(_THREADS, _WAITING, transport.stop) as crew:
            for build in list_builds(api, what.window):
                tally.add(builds=1)
                if isinstance(build.get("number"), int):
                    crew.give(BuildWork(means, build, crew.add).run)
        tally.add()
        return tally.so_far


def split_pipeline(name: str) -> tuple[str, str]:
    """Organization and pipeline of `ORG/PIPELINE`."""
    org, _, slug = name.partition("/")
    if not (is_folder_name(org) and is_folder_name(slug)):
        raise FlakeReportError(
            f"{name!r} names no pipeline; give ORG/PIPELINE, as in https://buildkite.com/ORG/PIPELINE"
        )
    return org, slug
