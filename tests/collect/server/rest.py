"""Buildkite's REST API for one world, as buildkite.com/docs/apis/rest-api describes it."""

from __future__ import annotations

import fnmatch
import json
import re
from typing import Any
from urllib.parse import urlencode

from .meter import Meter
from .wire import Reply, Request
from .world import World

CREDENTIAL = "made-up-for-tests"
SCOPES = frozenset({"read_organizations", "read_builds", "read_build_logs", "read_artifacts"})
_DEEP = (
    "Listing builds this deep is not supported. Please narrow your query using filters such as branch or created_from."
)
_ROUTES = {
    r"/builds": ("builds", "read_builds"),
    r"/builds/(?P<number>\d+)": ("build", "read_builds"),
    r"/builds/(?P<number>\d+)/jobs": ("jobs", "read_builds"),
    r"/builds/(?P<number>\d+)/jobs/(?P<job>[^/]+)/log": ("log", "read_build_logs"),
    r"/builds/(?P<number>\d+)(?:/jobs/(?P<job>[^/]+))?/artifacts": ("artifacts", "read_artifacts"),
    r"/builds/(?P<number>\d+)/jobs/(?P<job>[^/]+)/artifacts/(?P<artifact>[^/]+)/download": (
        "download",
        "read_artifacts",
    ),
}


class Api:
    """Serves one world under `/v2`. `storage` is the base URL of the other host that holds artifacts."""

    def __init__(self, world: World, storage: str = "", meter: Meter | None = None) -> None:
        self.world = world
        self.storage = storage
        self.meter = meter
        self.scopes = SCOPES
        self.hides_retried_artifacts = False

    def __call__(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {CREDENTIAL}":
            return _message(401, "Authentication required. Please supply a valid API Access Token")
        if self.meter:
            over = self.meter.count()
            headers = self.meter.headers()
            if over:
                return Reply(429, json.dumps(over).encode(), headers)
            reply = self._route(request)
            return Reply(reply.status, reply.body, {**headers, **reply.headers})
        return self._route(request)

    def _route(self, request: Request) -> Reply:
        org, base = (
            f"/v2/organizations/{self.world.org}",
            f"/v2/organizations/{self.world.org}/pipelines/{self.world.pipeline}",
        )
        if request.path == org:
            return self._allowed("read_organizations") or _json({"slug": self.world.org})
        if not request.path.startswith(f"{org}/"):
            return _message(404, "No organization found")
        if not request.path.startswith(f"{base}/"):
            return _message(404, "No pipeline found")
        for pattern, (name, scope) in _ROUTES.items():
            found = re.fullmatch(pattern, request.path.removeprefix(base))
            if found:
                refused = self._allowed(scope)
                return refused or getattr(self, f"_{name}")(request, **found.groupdict())
        return _message(404, "Not found")

    def _allowed(self, scope: str) -> Reply | None:
        return None if scope in self.scopes else _message(403, f"Your access token does not have the {scope} scope")

    def _builds(self, request: Request) -> Reply:
        since, until, branch = (request.one(name) for name in ("created_from", "created_to", "branch"))
        chosen = [
            build
            for build in self.world.builds
            if (not since or build["created_at"] >= since)
            and (not until or build["created_at"] < until)
            and (not branch or fnmatch.fnmatchcase(build["branch"], branch))
        ]
        return self._page(request, chosen, lambda build: self._shown(build, request), deepest=self.world.deepest)

    def _build(self, request: Request, number: str) -> Reply:
        build = self.world.find_build(number)
        return _message(404, "No build found") if build is None else _json(self._shown(build, request))

    def _jobs(self, request: Request, number: str) -> Reply:
        build = self.world.find_build(number)
        if build is None:
            return _message(404, "No build found")
        jobs = [
            job for job in build["jobs"] if request.one("include_retried_jobs", "true") == "true" or not job["retried"]
        ]
        size, start = int(request.one("per_page", "30")), int(request.one("after", "0"))
        links = {"self": request.target}
        if start + size < len(jobs):
            links["next"] = f"https://api.buildkite.com{request.path}?after={start + size}&per_page={size}"
        return _json({"items": [{**job, "agent": None} for job in jobs[start : start + size]], "links": links})

    def _log(self, request: Request, number: str, job: str) -> Reply:
        log = self.world.logs.get(job)
        if log is None or not self._has(number, job):
            return _message(404, "No job found")
        if "text/plain" in request.headers.get("accept", ""):
            return Reply(200, log, {"Content-Type": "text/plain; charset=utf-8"})
        return _json({"content": log.decode(errors="replace"), "size": len(log), "header_times": []})

    def _artifacts(self, request: Request, number: str, job: str | None) -> Reply:
        build = self.world.find_build(number)
        if build is None:
            return _message(404, "No build found")
        hidden = self.hides_retried_artifacts and job is None
        jobs = [one["id"] for one in build["jobs"] if job in (None, one["id"]) and not (hidden and one["retried"])]
        rows = [row for identity in jobs for row, _ in self.world.artifacts.get(identity, ())]
        return self._page(request, rows, lambda row: row)

    def _download(self, _request: Request, number: str, job: str, artifact: str) -> Reply:
        known = [row["id"] for row, _ in self.world.artifacts.get(job, ())]
        if artifact not in known or not self._has(number, job):
            return _message(404, "No artifact found")
        url = f"{self.storage}/{artifact}?X-Amz-Signature=0a1b2c3d&X-Amz-Expires=60"
        return Reply(302, json.dumps({"url": url}).encode(), {"Location": url, "Content-Type": "application/json"})

    def _has(self, number: str, job: str) -> bool:
        build = self.world.find_build(number)
        return build is not None and any(one["id"] == job for one in build["jobs"])

    def _shown(self, build: dict[str, Any], request: Request) -> dict[str, Any]:
        if request.one("exclude_jobs") == "true":
            return {key: value for key, value in build.items() if key != "jobs"}
        if request.one("include_retried_jobs") == "true":
            return build
        return {**build, "jobs": [job for job in build["jobs"] if not job["retried"]]}

    def _page(self, request: Request, rows: list[Any], show: Any, deepest: int | None = None) -> Reply:
        size, page = min(int(request.one("per_page", "30")), 100), int(request.one("page", "1"))
        if deepest is not None and page * size > deepest:
            return _message(400, _DEEP)
        headers = {"Content-Type": "application/json"}
        if page * size < len(rows):
            parameters = [(name, value) for name, values in request.query.items() for value in values if name != "page"]
            links = {"next": page + 1, "last": -(-len(rows) // size)}
            headers["Link"] = ", ".join(
                f'<https://api.buildkite.com{request.path}?{urlencode([*parameters, ("page", number)])}>; rel="{name}"'
                for name, number in links.items()
            )
        return Reply(200, json.dumps([show(row) for row in rows[(page - 1) * size : page * size]]).encode(), headers)


def _json(value: Any) -> Reply:
    return Reply(200, json.dumps(value).encode(), {"Content-Type": "application/json"})


def _message(status: int, text: str) -> Reply:
    return Reply(status, json.dumps({"message": text}).encode(), {"Content-Type": "application/json"})
