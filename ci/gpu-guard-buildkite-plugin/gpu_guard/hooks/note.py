"""The note that a job gets when it left GPU memory in use: Markdown, nothing in it from outside unescaped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .growth import GIB, Growth


def note(
    lost: Sequence[Growth], environ: Mapping[str, str], left: Sequence[str] = (), holders: Sequence[str] = ()
) -> str:
    """`left` names the processes that the job left behind, `holders` who is on the devices now."""
    agent = environ.get("BUILDKITE_AGENT_NAME", "")
    where = f" on `{_plain(agent)}`" if agent else ""
    whose = (
        "" if left else " No process of this job is seen: a container of it, or a neighbour on the card, may hold it."
    )
    lines = [
        f"**GPU memory stays in use after this job**{where}: the next one there starts with less.{whose}",
        "",
        "| device | free before | free after | stays in use |",
        "|---|---|---|---|",
        *(f"| {_plain(one.name)} | {' | '.join(map(_gib, (one.before, one.after, one.lost)))} |" for one in lost),
        "",
        *(f"- {_plain(sentence)}" for sentence in (*left, *holders)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _gib(size: int) -> str:
    return f"{size / GIB:.2f} GiB"


def _plain(text: str) -> str:
    """Text that Markdown and HTML take for text."""
    return re.sub(r"[<>&|`*_\[\]\\]|[^\x20-\x7e\u00a0-\uffff]", lambda found: f"&#{ord(found[0])};", text)
