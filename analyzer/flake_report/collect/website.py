"""Public pipelines without a token, as a browser reads them.

None of it is a documented interface. The build page sets a session cookie; with it `…/builds/N/data/jobs` lists the
jobs as JSON under `records`, and `…/jobs/ID/download` gives a raw log. vLLM's .buildkite/scripts/ci-fetch-log.sh and
Julia's AGENTS.md (August 2026) rely on the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

from flake_report.errors import FlakeReportError

from .answer import Answer, Body
from .buildurl import BuildPlace
from .files import Warn
from .joblist import ListedJob
from .token import WHERE_FROM
from .transport import RefusedError, Transport

_LOGIN = ("/login", "/signup", "/users/", "/sessions/")
_NEVER_RAN = frozenset({"broken", "canceled", "expired", "skipped"})
_HIDDEN = (401, 403, 404)


class Website:
    """One visit to the pages of public pipelines."""

    def __init__(self, transport: Transport, web: str) -> None:
        self._transport = transport
        self._web = web
        self._visited: set[str] = set()

    def jobs(self, place: BuildPlace, warn: Warn) -> list[ListedJob]:
        """The command jobs of a build that have ended or still run."""
        self._open(place)
        url = f"{self._build_url(place)}/data/jobs"
        try:
            listing = self._transport.fetch(url, _whole_json, headers={"Accept": "application/json"})
        except RefusedError as error:
            raise self._changed(place, f"its list of jobs answers HTTP {error.status}") from error
        records = listing.get("records") if isinstance(listing, dict) else None
        if not isinstance(records, list):
            raise self._changed(place, "its list of jobs has no `records`")
        if listing.get("has_next_page"):
            warn(f"{place.name}: the website lists only the first {len(records)} jobs; with a token all are read")
        if records and not any(_has_id(record) for record in records):
            raise self._changed(place, "its list of jobs has none with an `id`")
        return list(_listed(records))

    def log(self, place: BuildPlace, job: str) -> Body:
        """The raw log of one job."""
        self._open(place)
        pipeline = f"{self._web}/organizations/{place.org}/pipelines/{place.pipeline}"
        try:
            answer = self._transport.fetch(
                f"{pipeline}/builds/{place.number}/jobs/{quote(job, safe='')}/download", _same
            )
        except RefusedError as error:
            raise FlakeReportError(
                f"{place.name}: no log of job {job} (HTTP {error.status}); the job is not of this build, never ran, "
                "or its log is deleted"
            ) from error
        if "html" in answer.headers.get("Content-Type", ""):
            raise self._changed(place, "a page came in place of the log")
        return answer.body

    def _open(self, place: BuildPlace) -> None:
        """Visit the build page once: it gives the cookie that the rest needs."""
        page = self._build_url(place)
        if page in self._visited:
            return
        try:
            answer = self._transport.fetch(page, _same, headers={"Accept": "text/html"})
        except RefusedError as error:
            if error.status in _HIDDEN:
                raise _private(place) from error
            raise
        if urlsplit(answer.url).path.removeprefix(urlsplit(self._web).path).startswith(_LOGIN):
            raise _private(place)
        self._visited.add(page)

    def _build_url(self, place: BuildPlace) -> str:
        return f"{self._web}/{place.org}/{place.pipeline}/builds/{place.number}"

    def _changed(self, place: BuildPlace, how: str) -> FlakeReportError:
        return FlakeReportError(
            f"{place.name}: Buildkite's website has changed ({how}); read the build with a token ({WHERE_FROM}), "
            "or download the log and give the file"
        )


def _private(place: BuildPlace) -> FlakeReportError:
    return FlakeReportError(
        f"{place.name}: is private, or there is no such build; for a private pipeline give a token ({WHERE_FROM})"
    )


def _listed(records: list[Any]) -> Iterator[ListedJob]:
    for record in records:
        if not _has_id(record) or record.get("type", "script") != "script":
            continue
        ended = bool(record.get("finished_at"))
        yield ListedJob(
            id=record["id"],
            step=str(record.get("step_uuid") or ""),
            name=str(record.get("name") or ""),
            failed=ended and record.get("passed") is False and record.get("state") not in _NEVER_RAN,
            soft=record.get("soft_failed") is True,
        )


def _has_id(record: object) -> bool:
    return isinstance(record, dict) and isinstance(record.get("id"), str)


def _same(answer: Answer) -> Answer:
    return answer


def _whole_json(answer: Answer) -> Any:
    """The JSON of an answer; a page where JSON should be is no damage that asking again would mend."""
    if "html" in answer.headers.get("Content-Type", ""):
        return None
    return answer.json()
