"""The names of the archive's files, and reading its JSON.

`<org>/<pipeline>/<build number>/build.json.zst` (REST shape, retried jobs included) and, below it, a folder a job:
`job.json.zst` (written last: the job is complete), `log.zst`, `artifacts/<path>.zst`, `artifacts.json.zst` (the REST
list; `file` in each row is where the artifact lies below `artifacts/`). What the collector adds to a job's own fields
stands under `flake_report`: of which jobs it asked for logs and artifacts.
"""

from __future__ import annotations

import json
from typing import Any

from flake_report.errors import FlakeReportError

from .compression import decompressed
from .storage import Storage

BUILD_FILE = "build.json.zst"
JOB_FILE = "job.json.zst"
LOG_FILE = "log.zst"
ARTIFACTS_FILE = "artifacts.json.zst"
ARTIFACTS_FOLDER = "artifacts"
ADDED = "flake_report"


def read_object(storage: Storage, path: str) -> dict[str, Any]:
    """A JSON object of the archive; `MissingError` where there is no such file."""
    value = read_json(storage, path)
    if not isinstance(value, dict):
        raise FlakeReportError(f"{storage.place(path)}: holds no JSON object; collect the build again")
    return value


def read_json(storage: Storage, path: str) -> Any:
    """Any JSON of the archive; `FlakeReportError` where it is damaged."""
    place = storage.place(path)
    try:
        return json.loads(b"".join(decompressed(place, storage.read(path))))
    except (ValueError, RecursionError) as error:
        raise FlakeReportError(f"{place}: is no JSON ({error}); collect the build again") from error
