"""Memory of the GPUs after a job against before it. Pure; sizes are bytes, snapshots are data as in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

GIB = 2**30
LEAST = 256 * 2**20
"""Less is no leak: an idle driver's own use moves by some MiB, and the smallest context takes twice this."""

Data = Mapping[str, Any]


class Growth(NamedTuple):
    """One device: free before and after; `name` as torch names it."""

    name: str
    before: int
    after: int

    @property
    def lost(self) -> int:
        """Bytes that are no longer free; 0 where that is within what an idle card does."""
        gone = self.before - self.after
        return gone if gone >= LEAST else 0

    def sentence(self) -> str:
        """For the log."""
        words = f"{self.name}: {self.before / GIB:.2f} GiB free before the job, {self.after / GIB:.2f} after"
        return f"{words}: {self.lost / GIB:.2f} GiB stay in use" if self.lost else words


def compare(before: Optional[Data], after: Optional[Data]) -> list[Growth]:
    """Every device that both snapshots show."""
    if before is None or after is None:
        return []
    now = {device["uuid"]: device for device in after["devices"]}
    pairs = [(then, now[then["uuid"]]) for then in before["devices"] if then["uuid"] in now]
    return [Growth(_name(then), then["free"], later["free"]) for then, later in pairs]


def vanished(before: Optional[Data], after: Optional[Data]) -> list[str]:
    """A sentence for each device that was seen before and is not after: its driver broke, or the card fell off."""
    seen = {device["uuid"] for device in after["devices"]} if after is not None else set()
    gone = [device for device in before["devices"] if device["uuid"] not in seen] if before is not None else []
    words = "was there before the job and gives no reading after it"
    return [f"{_name(device)} {device['uuid']} {words}" for device in gone]


def _name(device: Data) -> str:
    return f"cuda:{device['index']}"
