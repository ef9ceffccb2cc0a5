"""The `Link` header (RFC 8288): where the next page is."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_LINK = re.compile(r'<([^>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]+))?)*)')
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))', re.IGNORECASE)


def next_query(header: str) -> str | None:
    """The query of the link whose relation is `next`; None where there is none.

    The query alone: behind a proxy the link names Buildkite's own host, and no link shall say where a token goes.
    """
    for target, parameters in _LINK.findall(header):
        relation = _REL.search(parameters)
        if relation and "next" in (relation[1] or relation[2] or "").lower().split():
            return query_of(target)
    return None


def query_of(url: object) -> str | None:
    """What stands after `?`; None where there is nothing."""
    if not isinstance(url, str):
        return None
    try:
        return urlsplit(url).query or None
    except ValueError:
        return None
