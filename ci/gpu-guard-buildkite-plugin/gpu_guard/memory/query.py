"""`nvidia-smi`, run once for each reading: for those who read now and then, and are gone soon."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping

from .reading import Device, Reading
from .smi import FORMAT, PATIENCE, QUERIES, SILENT, Row, SmiUnusableError, find_program, list_holders, parse_row
from .visible import Candidate, nvidia_visible, order_is_unsure


class QueryMeter:
    """Two short runs of nvidia-smi a reading, some 25 ms each."""

    source = "nvidia-smi"

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Raise SmiUnusableError where nvidia-smi is absent or prints no device."""
        self._program = find_program(environ)
        rows = self._rows()
        if not rows:
            raise SmiUnusableError("nvidia-smi shows no device")
        self.seen = len(rows)
        self.order_is_unsure = order_is_unsure(list(rows), environ)
        self._visible = nvidia_visible(sorted(rows), environ)
        self.devices = tuple(
            Device(place, item.uuid, rows[item].name, rows[item].reading.total)
            for place, item in enumerate(self._visible)
        )

    def read(self, *, careful: bool = False) -> Reading | None:
        """Every visible device now, with its processes; None where nvidia-smi fails, or shows fewer than before."""
        del careful
        at = time.time()
        try:
            rows = self._rows()
        except SmiUnusableError:
            return None
        if not rows.keys() >= set(self._visible):
            return None
        listed = list_holders(self._program)
        return Reading(
            at,
            tuple(
                rows[item].reading._replace(holders=None if listed is None else tuple(listed.get(item.uuid, ())))
                for item in self._visible
            ),
        )

    def earliest(self, since: float) -> None:
        """Nothing is kept: every reading is of now."""
        del since

    def close(self) -> None:
        """Nothing is held open."""

    def _rows(self) -> dict[Candidate, Row]:
        """What it prints; of the older query where the newer is refused. Raise SmiUnusableError where it hangs."""
        for query in QUERIES:
            try:
                asked = subprocess.run(  # noqa: S603  # the program found on PATH, fixed arguments
                    [self._program, f"--query-gpu={query}", FORMAT],
                    capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired as error:
                raise SmiUnusableError(SILENT, hangs=True) from error
            except OSError:
                return {}
            rows = [row for row in map(parse_row, asked.stdout.splitlines()) if row is not None]
            if rows:
                return {row.candidate: row for row in rows}
        return {}
