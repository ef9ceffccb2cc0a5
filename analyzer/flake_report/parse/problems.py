"""What was wrong with a file, each kind said once, with its first place and a count."""

from __future__ import annotations

from flake_report.model.results import ParseWarning

from . import limits


class Problems:
    """Collects what a reader met. `damaged` becomes true with the first problem that may have cost results."""

    def __init__(self) -> None:
        self.damaged = False
        self._first: dict[str, str] = {}
        self._times: dict[str, int] = {}
        self._dropped = 0

    def damage(self, message: str, place: str = "") -> None:
        """The file is not what it should be."""
        self.damaged = True
        self.note(message, place)

    def note(self, message: str, place: str = "") -> None:
        """Something worth saying that costs no result."""
        if message in self._times:
            self._times[message] += 1
        elif len(self._times) < limits.WARNINGS:
            self._times[message] = 1
            self._first[message] = place
        else:
            self._dropped += 1

    def again(self, message: str) -> bool:
        """Counts a message that was told before; False for a new one, whose place is worth finding."""
        if message not in self._times:
            return False
        self._times[message] += 1
        return True

    def warnings(self) -> tuple[ParseWarning, ...]:
        """All of it, in the order in which it was met."""
        told = [
            ParseWarning(message if times == 1 else f"{message} ({times:,} times)", self._first[message])
            for message, times in self._times.items()
        ]
        if self._dropped:
            told.append(ParseWarning(f"{self._dropped:,} more warnings"))
        return tuple(told)
