"""Where Buildkite is: its own servers, or others that the environment names (a proxy, a test's server)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from flake_report.errors import FlakeReportError

API_VARIABLE = "BUILDKITE_API_URL"
WEB_VARIABLE = "BUILDKITE_WEB_URL"
_API = "https://api.buildkite.com/v2"
_WEB = "https://buildkite.com"
_VERSION = re.compile(r"/v\d+$")


@dataclass(frozen=True, slots=True)
class Servers:
    """Base URLs without a slash at the end: the REST API with its version, and the website."""

    api: str = _API
    web: str = _WEB

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Servers:
        """BUILDKITE_API_URL (`/v2` is added where no version stands at its end) and BUILDKITE_WEB_URL, if set."""
        api = _base(API_VARIABLE, env.get(API_VARIABLE) or _API)
        return cls(api if _VERSION.search(api) else f"{api}/v2", _base(WEB_VARIABLE, env.get(WEB_VARIABLE) or _WEB))

    @property
    def hosts(self) -> frozenset[str]:
        """Hosts, with ports, whose URLs name builds and jobs."""
        return frozenset(urlsplit(url).netloc.lower() for url in (self.api, self.web, _API, _WEB))


def _base(variable: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        plain = not (parts.query or parts.fragment or "@" in parts.netloc)
        right = plain and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right:
        # The value is not repeated: somebody may have put a password into it.
        raise FlakeReportError(f"{variable} is no base URL; give one such as https://host or https://host:8443/path")
    return url.rstrip("/")
