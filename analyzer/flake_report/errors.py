"""The one class of expected errors, and what to quote of the errors of libraries."""

from __future__ import annotations

import re


class FlakeReportError(Exception):
    """Something the user can mend: one sentence that names the thing, the place, and what to do.

    Every other exception is a bug and keeps its traceback.
    """


class NothingUsableError(FlakeReportError):
    """The command ran and found nothing that it could use: exit status 1 instead of 2."""


def reason(error: Exception) -> str:
    """An error of a library in one line.

    Of an object store's chain of reasons this is the server's own code and message, else the last and deepest reason
    of the chain (`↳`).
    """
    text = _COLOUR.sub("", str(error)).partition("Debug source:")[0].strip()
    said = re.search(r"<Code>([^<]*)</Code>\s*(?:<Message>([^<]*)</Message>)?", text)
    if said:
        return ": ".join(part for part in said.groups() if part)
    first, *chain = text.splitlines() or [""]
    steps = [" ".join(line.replace("↳", "").split()) for line in chain if line.strip()]
    return f"{first}: {steps[-1]}" if steps and "↳" in text else first


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
