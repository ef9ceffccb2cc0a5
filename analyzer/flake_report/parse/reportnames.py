"""What a report's name tells: the session that wrote it, and which report of other builds is its like."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from flake_report.model.joblog import Session

from .sessionkey import command_alone, numbered

_OPTIONS = ("--junitxml", "--junit-xml")
_SUBSTITUTION = re.compile(r"\$\{[^}]*\}?|\$\([^)]*\)?|`[^`]*`?|\$\w+")
# The parts of a name that are new in every build: UUIDs, days and times, long hex, numbers of four digits and more.
_PASSING = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|\d{4}-\d\d-\d\d(?:[T_-]\d\d[-:.]?\d\d(?:[-:.]?\d\d)?(?:\.\d+)?Z?)?"
    r"|\d{8}T\d{6}(?:\.\d+)?Z?(?:-\d+)?"
    r"|(?<![0-9a-zA-Z])(?=[a-f]*\d)[0-9a-f]{8,}(?![0-9a-zA-Z])"
    r"|\d{4,}"
)


def session_of_report(name: str, sessions: Sequence[Session]) -> Session | None:
    """The session that wrote the report of this name; None where it cannot be known.

    A session's command names its report; a command that names another wrote another. Where one session alone ran and
    its command, as far as it is shown, names none, the report is its own.
    """
    naming = [session for session in sessions if names(session.command, name)]
    if len(naming) == 1:
        return naming[0]
    return sessions[0] if len(sessions) == 1 and not any(_values(sessions[0].command)) else None


def names(command: str, report: str) -> bool:
    """Whether this command writes a report of this name."""
    return any(_matches(_base(report), value) for value in _values(command))


def of_recorder(name: str, session: str) -> bool:
    """Whether a recorder wrote this report of its session: `junit-<job id>-<session>.xml`."""
    return bool(session) and _base(name).endswith(f"-{session}.xml")


def lasting_names(reports: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A name for each report of a job (its file's name, the session within the file) that the next build has too.

    It is the file's name, less the parts that are new in every build; where that leaves equals, their order.
    """
    ordered = sorted(set(reports), key=lambda one: (_PASSING.sub("*", one[0]), one[0], len(one[1]), one[1]))
    return dict(zip(ordered, numbered(_PASSING.sub("*", name) for name, _ in ordered), strict=True))


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _matches(base: str, value: str) -> bool:
    """Whether a file of this name may be what the option names; what the shell puts in may be anything."""
    first, *others = _SUBSTITUTION.split(_base(_SUBSTITUTION.sub("$_", value)))
    if not base or not others:
        return bool(base) and base == first
    at = len(first)
    for part in others[:-1]:
        at = base.find(part, at) + len(part) if part in base[at:] else len(base) + 1
    return base.startswith(first) and base.endswith(others[-1]) and at + len(others[-1]) <= len(base)


def _values(command: str) -> Iterator[str]:
    """The values of a command's report options."""
    alone = command_alone(command)
    try:
        words = shlex.split(alone)
    except ValueError:  # a quote that never ends: the log showed only part of the command
        words = alone.split()
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in _OPTIONS and equals:
            yield value
        elif option in _OPTIONS and place + 1 < len(words):
            yield words[place + 1]
