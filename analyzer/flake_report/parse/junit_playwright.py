"""Attempts in Playwright's reports, which without `includeRetries` are in the text alone.

A failed test has one failure whose text holds every attempt, each later one under a heading. A test that passed in
the end has no failure; but each attempt that failed left its error context as an attachment, in a folder of its own.
"""

from __future__ import annotations

import re

from flake_report.model.results import Outcome

from .junit_try import Try

ATTACHMENT = "[[ATTACHMENT|"

_HEADING = re.compile(r"^ *Retry #(\d+) ─{3,}.*$", re.MULTILINE)
_FOLDER = re.compile(r"\[\[ATTACHMENT\|(?:[^\]\n]*[/\\])?([^\]\n/\\]+)[/\\]([^\]\n/\\]+)\]\]")
_RETRY = re.compile(r"-retry\d+\Z")
_ERROR = re.compile(r"^ *(\w*Error: .*)$", re.MULTILINE)


def playwright_tries(last: Try, output: str) -> list[Try]:
    """The attempts that end in `last`, of a case with this output."""
    if last.outcome.bad:
        return _failed(last)
    if last.outcome is not Outcome.PASSED or ATTACHMENT not in output:
        return [last]
    folders = _FOLDER.findall(output)
    failed = {folder for folder, file in folders if file.startswith("error-context")}
    if failed:
        return [*(Try(Outcome.FAILED) for _ in failed), last]
    # Traces or pictures of a retry: there were earlier attempts, but not how many.
    return [last._replace(known=not any(_RETRY.search(folder) for folder, _file in folders))]


def _failed(last: Try) -> list[Try]:
    headings = list(_HEADING.finditer(last.text))
    if [int(heading[1]) for heading in headings] != list(range(1, len(headings) + 1)):
        return [last._replace(known=False)]
    if not headings:
        return [last]
    starts = [0, *(heading.end() for heading in headings)]
    ends = [*(heading.start() for heading in headings), len(last.text)]
    texts = [last.text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    # The time is that of all together, the message that of the first.
    return [last._replace(time="", text=text, message=_message(text, last.message)) for text in texts]


def _message(text: str, otherwise: str) -> str:
    found = _ERROR.search(text)
    return found[1].removeprefix("Error: ") if found else otherwise
