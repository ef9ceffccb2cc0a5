"""A small simulated history, shipped with the package: true log formats, made-up runs, two known failures."""

from __future__ import annotations

from .history import NOTICE, write_history

FAILED_JOB_LOGS = (
    "example/ci-simulated/1230/88447123-2aa2-4683-b965-d39f33650b73/log.zst",
    "example/ci-simulated/1240/932e4b3f-2265-471f-9523-846dc53483b8/log.zst",
)
"""The logs of the two known failures, below the archive: 10.93 GiB free with 0.5, then 4.51 GiB free with 0.47."""

__all__ = ["FAILED_JOB_LOGS", "NOTICE", "write_history"]
