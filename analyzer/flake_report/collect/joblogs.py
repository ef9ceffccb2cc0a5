"""The logs that a Buildkite URL names: of one job, of a step's jobs, or of all failed jobs of a build."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Protocol, TypeVar

from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Blob

from .answer import Body
from .buildurl import BuildPlace, read_build_url
from .clock import Clock
from .files import Warn, fetched_blob
from .joblist import ListedJob
from .limits import RateLimits
from .refusal import RefusalError
from .rest import PipelineApi
from .servers import Servers
from .token import Token
from .transport import Patience, Transport
from .website import Website
from .wire import listed_jobs

_Found = TypeVar("_Found")


def job_logs(
    url: str,
    *,
    env: Mapping[str, str],
    token: Token | None,
    warn: Warn,
    clock: Clock | None = None,
    patience: Patience | None = None,
) -> Iterator[Blob]:
    """The logs that `url` names, each fetched when it is first read; none where the build has no failed job.

    With a token they come through the REST API, and, where that may not read the pipeline, as without one from the
    website. Raises `FlakeReportError` for a URL that names no build and a build that cannot be read.
    """
    servers, clock = Servers.from_env(env), clock or Clock()
    place = read_build_url(url, servers)
    with Transport(clock, patience, RateLimits(clock)) as transport:
        logs = _Logs(transport, servers, place, token, warn)
        yield from ([logs.blob(place.job)] if place.job else (logs.blob(job.id, job) for job in logs.wanted()))


class _Reader(Protocol):
    """One way to read a build."""

    def jobs(self, place: BuildPlace, warn: Warn) -> list[ListedJob]: ...
    def log(self, place: BuildPlace, job: str) -> Body: ...


class _Rest:
    """The way with a token."""

    def __init__(self, api: PipelineApi) -> None:
        self._api = api

    def jobs(self, place: BuildPlace, _warn: Warn) -> list[ListedJob]:
        return listed_jobs(self._api.build(place.number))

    def log(self, place: BuildPlace, job: str) -> Body:
        body = self._api.log(place.number, job)
        if body is None:
            raise RefusalError(404, f"{place.name}: Buildkite has no log of job {job}; check the URL")
        return body


class _Logs:
    """One build's logs, through whichever way may read them."""

    def __init__(
        self, transport: Transport, servers: Servers, place: BuildPlace, token: Token | None, warn: Warn
    ) -> None:
        self._place, self._warn = place, warn
        self._page = f"{servers.web}/{place.org}/{place.pipeline}/builds/{place.number}"
        self._website = Website(transport, servers.web)
        self._rest = _Rest(PipelineApi(transport, servers.api, token, place.org, place.pipeline)) if token else None

    def wanted(self) -> list[ListedJob]:
        """The step's jobs; where no step is meant the failed ones, those that failed the build first."""
        jobs = self._ask(lambda reader: reader.jobs(self._place, self._warn))
        step = self._place.step
        if step is None:
            return sorted((job for job in jobs if job.failed), key=lambda job: job.soft)
        chosen = [job for job in jobs if step in (job.step, job.id)]
        if not chosen:
            raise FlakeReportError(f"{self._place.name}: has no job of the step {step}; check what follows ?sid=")
        return chosen

    def blob(self, identity: str, job: ListedJob | None = None) -> Blob:
        """The log of one job, under the job's name and address."""
        words = [*(job.name.split() if job else ()), f"{self._page}#{identity}"]
        if job and job.failed and job.soft:
            words.append("(soft failed)")
        return fetched_blob(" ".join(words), partial(self._ask, lambda reader: reader.log(self._place, identity)))

    def _ask(self, question: Callable[[_Reader], _Found]) -> _Found:
        if self._rest is None:
            return question(self._website)
        try:
            return question(self._rest)
        except RefusalError as refused:
            if refused.status == 401:
                raise
            try:  # a token for one organization, and a public pipeline of another
                return question(self._website)
            except FlakeReportError:
                raise refused from None
