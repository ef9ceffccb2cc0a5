"""A pipeline's builds, newest first, through pages and through windows of time that shrink.

A listing that goes deeper than the server likes answers 400; a new one then starts where it ended. The end of the
window is fixed at the start, since builds that arrive meanwhile would push the pages on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

from flake_report.errors import FlakeReportError

from .refusal import RefusalError
from .rest import PAGE, Page, PipelineApi
from .transport import UnreachableError

MANY = PAGE
"""More jobs than this in a build are read page by page: a hundred such builds at once make servers give up."""

_JOBS = {"include_retried_jobs": "true"}
_NO_JOBS = {"exclude_jobs": "true"}


@dataclass(frozen=True, slots=True)
class Window:
    """The builds that are meant: since <= created_at < until, on branches that fit (`*` matches any text)."""

    until: datetime
    since: datetime | None = None
    branch: str | None = None


def list_builds(api: PipelineApi, window: Window) -> Iterator[dict[str, Any]]:
    """Each build once, with its jobs; from the page after the first build with many jobs on, without them."""
    seen: set[str] = set()
    reader = _Pages(api)
    until, deepest = window.until, None
    while True:
        oldest, pages = None, 0
        query: str | None = _query(window, until)
        while query and pages != deepest:
            try:
                page = reader.read(query)
            except RefusalError as error:
                if error.status != 400 or oldest is None:
                    raise
                deepest = pages
                break
            pages += 1
            for build in page.rows():
                reader.weigh(build)
                identity = str(build.get("id"))
                if identity not in seen:
                    seen.add(identity)
                    oldest = created_at(build) or oldest
                    yield build
            query = page.next
        if not query:
            return
        if oldest is None or oldest + timedelta(milliseconds=1) >= until:
            raise FlakeReportError(f"{api.name}: more builds of one moment than can be listed; give a later --since")
        until = oldest + timedelta(milliseconds=1)  # its end is exclusive, and another build may be just as old


class _Pages:
    """Reads pages of builds with their jobs for as long as that is light."""

    def __init__(self, api: PipelineApi) -> None:
        self._api = api
        self._light = True

    def read(self, query: str) -> Page:
        """The page; where the server cannot make one with all jobs, the same without them."""
        if self._light:
            try:
                return self._api.builds(_with(query, _JOBS))
            except UnreachableError:
                self._light = False
        return self._api.builds(_with(query, _NO_JOBS))

    def weigh(self, build: dict[str, Any]) -> None:
        """Take note of how many jobs a build has."""
        jobs = build.get("jobs")
        if isinstance(jobs, list) and len(jobs) > MANY:
            self._light = False


def created_at(build: dict[str, Any]) -> datetime | None:
    """When the build was made; None where that cannot be read."""
    try:
        at = datetime.fromisoformat(build["created_at"])
    except (KeyError, TypeError, ValueError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _with(query: str, jobs: dict[str, str]) -> str:
    kept = [(name, value) for name, value in parse_qsl(query) if name not in {**_JOBS, **_NO_JOBS}]
    return urlencode([*kept, *jobs.items()])


def _query(window: Window, until: datetime) -> str:
    values = {
        "created_from": _stamp(window.since) if window.since else None,
        "created_to": _stamp(until),
        "branch": window.branch,
        "per_page": PAGE,
    }
    return urlencode({name: value for name, value in values.items() if value is not None})


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
