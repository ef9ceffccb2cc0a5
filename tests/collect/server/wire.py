"""A small real HTTP server, on the loopback interface only, that answers with functions and fails on demand."""

from __future__ import annotations

import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Request:
    """One request as the server saw it."""

    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    target: str

    def one(self, name: str, default: str = "") -> str:
        return self.query.get(name, [default])[-1]


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Fault:
    """A way to fail. With a reply that is sent in place of the right one; else the right one is spoiled on its way.

    `cut`: after so many bytes of the body (-1: before the first byte of all) the connection is closed.
    `unannounced`: the length is not said, so that only the content tells that something is missing. `chunked`: the
    body comes in chunks, of which the last never does.
    `stall`: seconds without a byte.
    """

    name: str
    reply: Reply | None = None
    cut: int | None = None
    unannounced: bool = False
    chunked: bool = False
    stall: float = 0.0


class Server:
    """Serves `app` from threads until the `with` block ends. Requests are kept in `seen`, unless `keep` is False."""

    def __init__(self, app: Callable[[Request], Reply]) -> None:
        self.app = app
        self.seen: list[Request] = []
        self.latency = 0.0
        self.keep = True
        self.fault: Callable[[int, Request], Fault | None] = lambda _number, _request: None
        self._lock = threading.Lock()
        self._taken = 0
        self._http = _Listener(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def take(self, request: Request) -> tuple[Reply, Fault | None]:
        with self._lock:
            self._taken += 1
            number = self._taken
            if self.keep:
                self.seen.append(request)
                number = len(self.seen)
        fault = self.fault(number, request)
        if self.latency:
            time.sleep(self.latency)
        return (fault.reply if fault and fault.reply else self.app(request)), fault


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no news; anything else is a bug of this server and is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 16  # head and body in one packet

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(unquote(parts.path), parse_qs(parts.query), headers, self.path)
            reply, fault = server.take(request)
            _send(self, reply, fault)

        def log_message(self, *_arguments: Any) -> None:
            """Tests have better things to print."""

    return Handler


def _send(handler: BaseHTTPRequestHandler, reply: Reply, fault: Fault | None) -> None:
    fault = fault or Fault("none")
    time.sleep(fault.stall)
    if fault.cut is not None or fault.unannounced:
        handler.close_connection = True
        # The other side sees a reset, not an end.
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", int(fault.cut == -1), 0))
    if fault.cut == -1:
        return
    handler.send_response(reply.status)
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    if fault.unannounced:
        handler.send_header("Connection", "close")
    elif fault.chunked:
        handler.send_header("Transfer-Encoding", "chunked")
    else:
        handler.send_header("Content-Length", str(len(reply.body)))
    handler.end_headers()
    sent = reply.body[: fault.cut]
    handler.wfile.write(b"%x\r\n%b\r\n" % (len(sent), sent) if fault.chunked else sent)
