"""A real S3 server (moto's) in a process of its own, as `deltalake` holds Python's lock while it waits for an answer.

Prints its port, then a line for each write of a log entry: status, its `If-None-Match`, path. Two things differ from
moto's own: a conditional write is one step, as in S3 (moto looks first and writes then, and two threads may meet in
between), and after `POST /lose` the answer to the next log entry is lost once it is stored. `S3_SERVER_DELAY` is how
many seconds every request waits before.
"""

from __future__ import annotations

import logging
import os
import time
from threading import Lock

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server


class Server:
    """The WSGI application."""

    def __init__(self) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._writing = Lock()
        self._losing = False
        self._delay = float(os.environ.get("S3_SERVER_DELAY", "0"))

    def __call__(self, environ, start_response):
        time.sleep(self._delay)
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if (method, path) == ("POST", "/lose"):
            self._losing = True
            start_response("200 OK", [])
            return []
        if method == "PUT" and "/_delta_log/" in path:
            return self._log_entry(environ, start_response)
        return self._moto(environ, start_response)

    def _log_entry(self, environ, start_response):
        said = []
        with self._writing:
            body = list(self._moto(environ, lambda status, headers, *_: said.append((status, headers))))
            lost, self._losing = self._losing, False
            [(status, headers)] = said
            print(status[:3], environ.get("HTTP_IF_NONE_MATCH", "-"), environ["PATH_INFO"], flush=True)  # noqa: T201 - how it answers
        if lost:
            start_response("503 Slow Down", [])
            return []
        start_response(status, headers)
        return body


if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, Server(), threaded=True)
    print(server.server_port, flush=True)  # noqa: T201 - how it answers
    server.serve_forever()
