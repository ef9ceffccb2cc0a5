"""Text from strangers, made fit to be shown: nothing in it may act, hide, or run on without end."""

from __future__ import annotations

import json
import re

from markupsafe import Markup

from flake_report.model.words import spelt

LONGEST = 400
"""Characters of any one text that are shown."""

_WEB = re.compile(r"https?://[!-~]+")


def plain(text: str) -> str:
    """The text with what cannot be seen spelt out, and cut with a mark where it is too long."""
    return spelt(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def shown(value: object) -> object:
    """What a template prints of a value: markup of our own as it is, text of others plain."""
    if value is None:
        return ""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def breakable(name: str) -> Markup:
    """A test's name that may go on in a new line where its parts begin, and needs not anywhere else."""
    first, colons, rest = (Markup.escape(part) for part in plain(name).partition("::"))
    return first + colons + Markup("<wbr>") + rest if colons else first


def web(url: object) -> str:
    """The address where it is one of the web, else nothing: no other kind is ever linked."""
    return url if isinstance(url, str) and _WEB.fullmatch(url) else ""


def script_json(value: object) -> Markup:
    """JSON that may stand inside a script element, as data or as code: it holds no character that ends it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704  # escaped
