"""The pages of public pipelines, as a browser without an account sees them."""

from __future__ import annotations

import json
import re
from typing import Any

from .wire import Reply, Request
from .world import World

COOKIE = "_buildkite_session=guest"
_PAGE = re.compile(r"/(?P<org>[^/]+)/(?P<pipeline>[^/]+)/builds/(?P<number>\d+)(?P<list>/data/jobs)?$")
_LOG = re.compile(
    r"/organizations/(?P<org>[^/]+)/pipelines/(?P<pipeline>[^/]+)/builds/(?P<number>\d+)/jobs/(?P<job>[^/]+)/download$"
)
_HTML = {"Content-Type": "text/html; charset=utf-8"}


class Pages:
    """Serves one world. `private` sends visitors to the login page; `changed` replaces the list of jobs."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.private = False
        self.changed: Reply | None = None
        self.more = False

    def __call__(self, request: Request) -> Reply:
        if request.path == "/login":
            return Reply(200, b"<html>Log in</html>", _HTML)
        found = _PAGE.match(request.path) or _LOG.match(request.path)
        known = found and (found["org"], found["pipeline"]) == (self.world.org, self.world.pipeline)
        build = self.world.find_build(found["number"]) if found and known else None
        if not found or build is None:
            return Reply(404, b"<html>Not found</html>", _HTML)
        if self.private:
            return Reply(302, b"", {"Location": "/login?return_to=x"})
        return self._shown(request, found.groupdict(), build)

    def _shown(self, request: Request, parts: dict[str, str], build: dict[str, Any]) -> Reply:
        if "job" not in parts and not parts["list"]:
            return Reply(200, b"<html>Build</html>", {**_HTML, "Set-Cookie": f"{COOKIE}; path=/; HttpOnly"})
        if COOKIE not in request.headers.get("cookie", ""):
            return Reply(403, b"<html>Forbidden</html>", _HTML)
        if "job" in parts:
            log = self.world.logs.get(parts["job"])
            return Reply(404) if log is None else Reply(200, log, {"Content-Type": "text/plain"})
        return self.changed or _jobs(build, more=self.more)


def _jobs(build: dict[str, Any], *, more: bool) -> Reply:
    records = [
        {
            "id": job["id"],
            "type": job["type"],
            "step_uuid": job["step"]["id"],
            "name": job["name"],
            "state": "finished" if job["finished_at"] else job["state"],
            "passed": job["state"] == "passed",
            "soft_failed": job["soft_failed"],
            "finished_at": job["finished_at"],
        }
        for job in build["jobs"]
    ]
    body = json.dumps({"records": records, "has_next_page": more}).encode()
    return Reply(200, body, {"Content-Type": "application/json"})
