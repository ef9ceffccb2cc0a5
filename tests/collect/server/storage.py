"""The other host, which holds artifacts under signed URLs and refuses a second kind of credentials."""

from __future__ import annotations

from .wire import Reply, Request
from .world import World


class Storage:
    """Answers as S3 does."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __call__(self, request: Request) -> Reply:
        if "authorization" in request.headers:
            return Reply(
                400, b"<Error><Code>InvalidArgument</Code><Message>Only one auth mechanism allowed</Message></Error>"
            )
        if not request.one("X-Amz-Signature"):
            return Reply(403, b"<Error><Code>AccessDenied</Code></Error>")
        wanted = request.path.removeprefix("/")
        for rows in self.world.artifacts.values():
            for row, data in rows:
                if row["id"] == wanted:
                    return Reply(200, data, {"Content-Type": "application/octet-stream"})
        return Reply(404, b"<Error><Code>NoSuchKey</Code></Error>")
