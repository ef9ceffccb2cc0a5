"""A server that speaks the agent's API over HTTP, as far as a job's calls go, and remembers what it was told.

Requests and replies have the shapes of the agent's own `api` package; ids and bodies are checked, so that a call that
Buildkite would refuse is refused here too.
"""

from __future__ import annotations

import contextlib
import email.parser
import email.policy
import fnmatch
import gzip
import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

ACCESS = "of-the-job"
MOST_ANNOTATION = 1024 * 1024
NOT_FOUND = (404, {"message": "Not found"})
OF_AGENT = ("register", "connect", "disconnect", "heartbeat")
OF_RUN = (["acquire"], ["start"], ["chunks"], ["finish"])
INTERVALS = {"ping_interval": 1, "job_status_interval": 1, "heartbeat_interval": 60}
CHUNKS = {"chunks_max_size_bytes": 100_000, "chunks_interval_seconds": 1}


@dataclass
class Told:
    """What the agent told: annotations in order, artifacts by path, meta-data by key, every request line.

    Of a job that it ran from here: how it finished, and its log.
    """

    annotations: list[dict[str, Any]] = field(default_factory=list)
    artifacts: dict[str, bytes] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    meta_data: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    finished: dict[str, Any] = field(default_factory=dict)
    log: bytes = b""


class AgentApi:
    """`url` is what BUILDKITE_AGENT_ENDPOINT takes.

    `offered` is the environment of the job that an agent may acquire, `state` what the job is told when it asks.
    """

    def __init__(self) -> None:
        self.told = Told()
        self.offered: dict[str, str] = {}
        self.state = "running"
        self._pending: dict[str, str] = {}
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v3"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, method: str, path: str, body: bytes, kind: str) -> tuple[int, Any]:
        """Status and JSON for one request; bytes where a file is asked for."""
        path, _, query = path.partition("?")
        parts = [unquote(part) for part in path.removeprefix("/v3").strip("/").split("/")]
        if parts[0] == "storage" and method == "POST":  # lies at another host in the world: no token goes there
            return self._stored(body, kind)
        if parts[0] in ("storage", "builds"):
            return 200, self._found(parse_qs(query)["query"][0]) if query else self.told.artifacts["/".join(parts[1:])]
        if parts[0] in OF_AGENT or (method == "GET" and parts[0] == "jobs") or parts[2:] in OF_RUN:
            return self._run(parts, body)
        return self._of_job(method, parts[2:], json.loads(body or b"{}")) if parts[0] == "jobs" else NOT_FOUND

    def _of_job(self, method: str, what: list[str], found: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if what[0] == "annotations":
            return self._annotation(found)
        if what[0] == "artifacts":
            return self._batch(found) if method == "POST" else self._finished(found)
        return self._data(what[1], found) if what[0] == "data" else NOT_FOUND

    def _run(self, parts: list[str], body: bytes) -> tuple[int, dict[str, Any]]:
        if parts[0] in OF_AGENT:
            return 200, {"id": "agent-1", "name": "an-agent", "access_token": ACCESS, **INTERVALS}
        if len(parts) == 2:
            return 200, {"state": self.state}
        if parts[2] == "chunks":
            self.told.log += gzip.decompress(body)
        if parts[2] == "finish":
            self.told.finished = json.loads(body)
        job = {"id": parts[1], "state": "assigned", "env": self.offered, "token": ACCESS, **CHUNKS}
        return 200, job if parts[2] == "acquire" else {}

    def _data(self, verb: str, found: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        kept = self.told.meta_data
        if verb == "set":
            kept[found["key"]] = found["value"]
            return 200, {}
        if verb == "exists":
            return 200, {"exists": found["key"] in kept}
        if verb == "get" and found["key"] in kept:
            return 200, {"key": found["key"], "value": kept[found["key"]]}
        return 404, {"message": "Not found"}

    def _annotation(self, found: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        right = found.get("style") in {"default", "info", "success", "warning", "error", ""}
        right = right and found.get("scope", "build") in {"build", "job", ""} and len(found["context"]) <= 100
        if not right or len(found["body"].encode()) > MOST_ANNOTATION:
            return 400, {"message": "The annotation is not right"}
        self.told.annotations.append(found)
        return 201, {}

    def _found(self, query: str) -> list[dict[str, Any]]:
        names = [name for name in self.told.artifacts if fnmatch.fnmatch(name, query)]
        return [
            {
                "id": name, "job_id": "0b-job", "path": name, "absolute_path": f"/{name}",
                "file_size": len(self.told.artifacts[name]), "url": f"{self.url.removesuffix('/v3')}/storage/{name}",
                "sha1sum": hashlib.sha1(self.told.artifacts[name], usedforsecurity=False).hexdigest(),
            }
            for name in names
        ]  # fmt: skip

    def _batch(self, found: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        ids = [f"artifact-{len(self._pending) + place}" for place, _ in enumerate(found["artifacts"])]
        self._pending.update(zip(ids, (one["path"] for one in found["artifacts"]), strict=True))
        action = {"url": self.url, "method": "POST", "path": "/storage/form", "file_input": "file"}
        instructions = {"action": action, "data": {"path": "${artifact:path}"}}
        return 201, {"id": found["id"], "artifact_ids": ids, "upload_instructions": instructions}

    def _stored(self, body: bytes, kind: str) -> tuple[int, dict[str, Any]]:
        head = f"Content-Type: {kind}\r\n\r\n".encode()
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
        parts = {part.get_param("name", header="content-disposition"): part for part in message.iter_parts()}
        if not {"path", "file"} <= set(parts):
            return 400, {"message": "this is no form of an artifact"}
        self.told.artifacts[parts["path"].get_content().strip()] = parts["file"].get_payload(decode=True)
        return 204, {}

    def _finished(self, found: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.told.states.update({self._pending[one["id"]]: one["state"] for one in found["artifacts"]})
        return 200, {}


class _Handler(BaseHTTPRequestHandler):
    api: AgentApi
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        with contextlib.suppress(ConnectionResetError):  # an agent that ends leaves without a goodbye
            super().handle()

    def do_GET(self) -> None:
        self._reply()

    def do_POST(self) -> None:
        self._reply()

    def do_PUT(self) -> None:
        self._reply()

    def log_message(self, *_: object) -> None:
        """The tests look at `told`."""

    def _reply(self) -> None:
        address = urlsplit(self.path)
        path = address.path
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.api.told.requests.append(f"{self.command} {path}")
        allowed = path.startswith("/storage/") or self.headers.get("Authorization") == f"Token {ACCESS}"
        if not allowed:
            status, answer = 401, {"message": "Authentication required"}
        else:
            status, answer = self.api.answer(
                self.command, f"{path}?{address.query}", body, self.headers.get("Content-Type", "")
            )
        data = b"" if status == 204 else answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
