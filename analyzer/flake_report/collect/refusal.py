"""What a refused request means for the person who gave the token and the slugs."""

from __future__ import annotations

from flake_report.errors import FlakeReportError

from .token import WHERE_FROM
from .transport import RefusedError


class RefusalError(FlakeReportError):
    """Buildkite does not let us read: no other request of this kind will do better."""

    def __init__(self, status: int, sentence: str) -> None:
        self.status = status
        super().__init__(sentence)


def refusal(error: RefusedError, pipeline: str, what: str, scope: str) -> RefusalError:
    """The sentence for a status: 401 is the token, 403 its scope or organization, 404 a name."""
    said = f"HTTP {error.status}{f': {error.said}' if error.said else ''}"
    meaning = {
        401: f"Buildkite refuses the token ({said}); it is mistyped, revoked or expired: look at {WHERE_FROM}",
        403: f"the token may not read {what} ({said}); it needs the scope {scope}, and access to the organization",
        404: f"{what} cannot be found ({said}); check the name, and the token's access to it",
    }
    other = f"{what} cannot be read ({said}); check the command"
    return RefusalError(error.status, f"{pipeline}: {meaning.get(error.status, other)}")


def unknown_pipeline(error: RefusedError, pipeline: str, organization: int) -> RefusalError:
    """Which slug is wrong, told by the status of a request for the organization alone."""
    org, _, slug = pipeline.partition("/")
    said = f"HTTP 404{f': {error.said}' if error.said else ''}"
    if organization == 404:
        wrong = f"the token's owner knows no organization {org!r}; check the slug before the /"
    elif organization == 200:
        wrong = f"the organization {org!r} has no pipeline {slug!r} that the token may see; check the slug after the /"
    else:
        wrong = f"check both slugs, and that the token is for the organization {org!r}"
    return RefusalError(404, f"{pipeline}: no such pipeline ({said}); {wrong}")
