"""What a Buildkite URL names: a build, one job of it, or one step."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from flake_report.errors import FlakeReportError

from .servers import Servers

_SLUG = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_PATH = re.compile(
    rf"(?:/v\d+)?(?:/organizations/(?P<org>{_SLUG})/pipelines/(?P<pipeline>{_SLUG})|/(?P<org_>{_SLUG})/(?P<pipeline_>{_SLUG}))"
    r"/builds/(?P<number>\d{1,18})(?P<rest>/.*)?$"
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_FORMS = "https://buildkite.com/ORG/PIPELINE/builds/NUMBER, or that with #JOB"


@dataclass(frozen=True, slots=True)
class BuildPlace:
    """A build, and what of it is meant: one job, the jobs of one step, or where both are None its failed jobs."""

    org: str
    pipeline: str
    number: int
    job: str | None = None
    step: str | None = None

    @property
    def name(self) -> str:
        """As people say it."""
        return f"{self.org}/{self.pipeline} build {self.number}"


def is_url(name: str) -> bool:
    """Whether an argument is meant as a URL, not as a file."""
    return name.lower().startswith(("http://", "https://"))


def read_build_url(url: str, servers: Servers) -> BuildPlace:
    """The build, job or step that a URL from the browser or the REST API names.

    The website writes the job as `#ID`, as `?jid=ID` or into the path, and the step as `?sid=ID`.
    """
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
    except ValueError as error:
        raise FlakeReportError(f"{url}: is no URL ({error}); give {_FORMS}") from error
    if parts.netloc.lower() not in servers.hosts:
        raise FlakeReportError(f"{url}: is no Buildkite URL; give {_FORMS}, or download the log and give the file")
    path = parts.path
    for base in (servers.api, servers.web):
        under = urlsplit(base)
        if under.netloc.lower() == parts.netloc.lower() and under.path and path.startswith(f"{under.path}/"):
            path = path.removeprefix(under.path)
    found = _PATH.match(path)
    if not found:
        raise FlakeReportError(f"{url}: names no build; give {_FORMS}")
    return BuildPlace(
        org=found["org"] or found["org_"],
        pipeline=found["pipeline"] or found["pipeline_"],
        number=int(found["number"]),
        job=_uuid(parts.fragment) or _uuid(*query.get("jid", ())) or _job_in(found["rest"] or ""),
        step=_uuid(*query.get("sid", ())),
    )


def _job_in(rest: str) -> str | None:
    """The job of a path such as `/jobs/ID/log`; the website's own pages below a build name none."""
    found = re.match(r"/jobs/([^/]+)", rest)
    return _uuid(found[1]) if found else None


def _uuid(*texts: str) -> str | None:
    found = _UUID.match(texts[0]) if texts else None
    return found[0].lower() if found else None
