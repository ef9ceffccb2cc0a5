"""One pipeline in Buildkite's REST API, as documented at buildkite.com/docs/apis/rest-api."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from flake_report.errors import FlakeReportError

from .answer import Answer, Body, DamagedError
from .jsonlist import elements
from .links import next_query, query_of
from .refusal import refusal, unknown_pipeline
from .token import Token
from .transport import RefusedError, Transport
from .wire import Payload

_Read = TypeVar("_Read")

PAGE = 100  # the most that any of its lists gives at once


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list, whole and checked, and the query of the next one."""

    body: Body
    next: str | None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Its objects, one at a time."""
        return (row for row in elements(self.body.chunks()) if isinstance(row, dict))


class PipelineApi:
    """Every request that reads one pipeline. Raises `FlakeReportError` that names the slug or scope that is wrong."""

    def __init__(self, transport: Transport, api: str, token: Token, org: str, pipeline: str) -> None:
        self._transport = transport
        self._org = f"{api}/organizations/{quote(org, safe='')}"
        self._base = f"{self._org}/pipelines/{quote(pipeline, safe='')}"
        self._token = token
        self.name = f"{org}/{pipeline}"

    def builds(self, query: str) -> Page:
        """One page of builds, newest first."""
        try:
            return self._get(f"{self._base}/builds?{query}", _page)
        except RefusedError as error:
            if error.status == 404:
                raise self._unknown(error) from error
            raise self._refused(error, "its builds", "read_builds") from error

    def build(self, number: int) -> dict[str, Any]:
        """One build with all its jobs, those that were retried too, and the agents that ran them."""
        try:
            return self._get(f"{self._base}/builds/{number}?include_retried_jobs=true", _object)
        except RefusedError as error:
            raise self._refused(error, f"build {number}", "read_builds") from error

    def jobs(self, number: int) -> Iterator[dict[str, Any]]:
        """The jobs of one build page by page, those that were retried too: for builds with many."""
        query: str | None = urlencode({"per_page": PAGE, "include_retried_jobs": "true"})
        while query:
            try:
                page = self._get(f"{self._base}/builds/{number}/jobs?{query}", _items)
            except RefusedError as error:
                raise self._refused(error, f"the jobs of build {number}", "read_builds") from error
            yield from (job for job in page["items"] if isinstance(job, dict))
            links = page.get("links")
            query = query_of(links.get("next")) if isinstance(links, Mapping) else None

    def log(self, number: int, job: str) -> Body | None:
        """The raw log of one job; None where Buildkite has none: it never ran, or its log is deleted."""
        url = f"{self._job(number, job)}/log"
        try:
            return self._get(url, _plain, {"Accept": "text/plain"})
        except RefusedError as error:
            if error.status == 404:
                return None
            raise self._refused(error, f"the log of job {job}", "read_build_logs") from error

    def artifacts(self, number: int, job: str | None = None) -> Iterator[dict[str, Any]]:
        """What a build, or one job of it, uploaded: id, path, size and SHA-1 of each, not the files."""
        base = self._job(number, job) if job else f"{self._base}/builds/{number}"
        query: str | None = urlencode({"per_page": PAGE})
        while query:
            try:
                page = self._get(f"{base}/artifacts?{query}", _page)
            except RefusedError as error:
                raise self._refused(error, f"the artifacts of build {number}", "read_artifacts") from error
            yield from page.rows()
            query = page.next

    def artifact(self, number: int, row: Payload) -> Body | None:
        """One artifact's bytes as they were uploaded; None where the file is gone.

        The API answers with a redirect to the storage, which is asked without the token: a store refuses two kinds
        of credentials at once, and the token is none of its business.
        """
        job, identity = str(row.get("job_id")), str(row.get("id"))
        url = f"{self._job(number, job)}/artifacts/{quote(identity, safe='')}/download"
        try:
            return self._get(url, partial(_same_as, row), {"Accept-Encoding": "identity"}, decode=False)
        except RefusedError as error:
            if error.status in (404, 410):
                return None
            raise self._refused(error, f"artifact {identity} of job {job}", "read_artifacts") from error

    def _job(self, number: int, job: str) -> str:
        return f"{self._base}/builds/{number}/jobs/{quote(job, safe='')}"

    def _get(
        self,
        url: str,
        read: Callable[[Answer], _Read],
        headers: Mapping[str, str] | None = None,
        *,
        decode: bool = True,
    ) -> _Read:
        wanted = {"Accept": "application/json", **(headers or {})}
        return self._transport.fetch(url, read, auth=self._token, headers=wanted, decode=decode)

    def _refused(self, error: RefusedError, what: str, scope: str) -> FlakeReportError:
        return refusal(error, self.name, what, scope)

    def _unknown(self, error: RefusedError) -> FlakeReportError:
        try:
            self._get(self._org, _object)
            organization = 200
        except RefusedError as about:
            organization = about.status
        return unknown_pipeline(error, self.name, organization)


def _page(answer: Answer) -> Page:
    deque(elements(answer.body.chunks()), maxlen=0)  # damage is found here, while the page can be asked for again
    return Page(answer.body, next_query(answer.headers.get("Link", "")))


def _object(answer: Answer) -> dict[str, Any]:
    value = answer.json()
    if not isinstance(value, dict):
        raise DamagedError("no JSON object")
    return value


def _items(answer: Answer) -> dict[str, Any]:
    value = _object(answer)
    if not isinstance(value.get("items"), list):
        raise DamagedError("no list of items")
    return value


def _plain(answer: Answer) -> Body:
    if "html" in answer.headers.get("Content-Type", ""):
        raise DamagedError("a page in place of a log")
    return answer.body


def _same_as(row: Payload, answer: Answer) -> Body:
    """The artifact, once size and SHA-1 are those that its uploader measured, where the row says them."""
    size, sha1 = row.get("file_size"), row.get("sha1sum")
    digest, read = hashlib.sha1(usedforsecurity=False), 0
    for chunk in answer.body.chunks():
        digest.update(chunk)
        read += len(chunk)
    if isinstance(size, int) and read != size:
        raise DamagedError(f"{read} bytes of {size}")
    if isinstance(sha1, str) and sha1 and digest.hexdigest() != sha1.lower():
        raise DamagedError("not the bytes that were uploaded")
    return answer.body
