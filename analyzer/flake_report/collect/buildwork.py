"""One build: whether it needs a look, which of its jobs are to be kept, and what is remembered of the look."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

from flake_report.errors import FlakeReportError

from .asked import LOOK_FILE, Asked, Look, has_ended, is_command, look_at
from .globs import matches_any
from .jobwork import Means, keep_job
from .layout import JOB_FILE, read_object
from .listing import MANY, created_at
from .refusal import RefusalError
from .storage import MissingError
from .transport import UnreachableError
from .wire import Payload


class BuildWork:
    """The work on one build as it was listed. `hand_out` takes a task for another thread."""

    def __init__(self, means: Means, build: dict[str, Any], hand_out: Callable[[Callable[[], None]], None]) -> None:
        self._means = means
        self._build = build
        self._hand_out = hand_out
        self._number: int = build["number"]
        self._folder = means.writer.build_folder(self._number)
        self._jobs: list[Payload] = []
        self._lock = threading.Lock()
        self._open = 0
        self._missed = 0

    def run(self) -> None:
        """Look at the build, if it needs that, and hand out each of its jobs that is to be kept."""
        last = self._last_look()
        if last and last.still_holds(self._build, self._means.asked):
            self._means.tally.add(unchanged=1, back_to=created_at(self._build))
            return None
        try:
            self._jobs = self._whole_list()
            there = frozenset(self._means.storage.files(self._folder))
            wanted = self._wanted(last, there)
            if wanted and last and last.asked != self._means.asked:
                # From now on some jobs are kept for one wish and some for another, until all have been kept.
                self._remember(Look("", "", None, settled=False))
            self._means.writer.write_build({**self._build, "jobs": self._jobs})
            self._means.storage.sweep(self._folder)
            rows = self._artifacts([job for job, asked in wanted if asked.wants(job)])
        except (RefusalError, UnreachableError) as error:
            self._missed += 1
            self._excuse(error)
            return self._end()
        self._open = len(wanted)
        for job, asked in wanted:
            artifacts = [row for row in rows.get(job["id"], ()) if matches_any(row["path"], asked.artifacts)]
            self._hand_out(partial(self._keep, job, asked, artifacts, there))
        return None if wanted else self._end()

    def _last_look(self) -> Look | None:
        try:
            return Look.read(read_object(self._means.storage, f"{self._folder}/{LOOK_FILE}"))
        except MissingError:
            return None
        except FlakeReportError as error:
            self._means.warn(f"{error}; it is looked at anew")
            return None

    def _whole_list(self) -> list[Payload]:
        """All jobs of the build; where there are many from the list made for that, which may leave out agents."""
        jobs = _rows(self._build)
        if jobs is not None and len(jobs) <= MANY:
            return jobs
        whole = list(self._means.api.jobs(self._number))
        if jobs is None and any(job.get("agent") is None and job.get("started_at") for job in whole):
            jobs = _rows(self._means.api.build(self._number))
        agents = {str(job.get("id")): job.get("agent") for job in jobs or ()}
        return [{**job, "agent": job.get("agent") or agents.get(str(job.get("id")))} for job in whole]

    def _wanted(self, last: Look | None, there: frozenset[str]) -> list[tuple[Payload, Asked]]:
        """The jobs that ended and are not in the archive with all that is asked, and what to ask of each."""
        found = []
        asked = self._means.asked
        for job in self._jobs:
            if not (is_command(job) and has_ended(job) and isinstance(job.get("id"), str)):
                continue
            if f"{job['id']}/{JOB_FILE}" not in there:
                found.append((job, asked))
            elif not (last and last.trusts(asked)):
                earlier = Asked.of_job(read_object(self._means.storage, f"{self._folder}/{job['id']}/{JOB_FILE}"))
                if earlier and not earlier.covers(asked):
                    found.append((job, asked.joined(earlier)))
        return found

    def _artifacts(self, jobs: list[Payload]) -> dict[str, list[Payload]]:
        """The rows of each job's artifacts that can be had, in an order that is always the same."""
        rows: dict[str, list[Payload]] = defaultdict(list)
        if not jobs or not self._means.asked.artifacts:
            return rows
        api = self._means.api
        listed = list(api.artifacts(self._number))
        known = {str(row.get("job_id")) for row in listed}
        for job in jobs:  # whether the build's list has those of retried jobs is nowhere said
            if job.get("retried") is True and job["id"] not in known:
                listed += api.artifacts(self._number, job["id"])
        for row in listed:
            if row.get("state") == "finished" and isinstance(row.get("path"), str):
                rows[str(row.get("job_id"))].append(row)
        return {job: sorted(those, key=lambda row: (row["path"], str(row.get("id")))) for job, those in rows.items()}

    def _keep(self, job: Payload, asked: Asked, artifacts: list[Payload], there: frozenset[str]) -> None:
        missed = 0
        try:
            keep_job(self._means, self._number, job, asked=asked, artifacts=artifacts, there=there)
        except (RefusalError, UnreachableError) as error:
            self._excuse(error)
            missed = 1
        with self._lock:
            self._open -= 1
            self._missed += missed
            last = not self._open
        if last:
            self._end()

    def _end(self) -> None:
        """All that can be kept now is kept."""
        if self._jobs or not self._missed:
            self._remember(look_at(self._build, self._jobs, None if self._missed else self._means.asked))
        self._means.tally.add(missed=self._missed, back_to=created_at(self._build))

    def _remember(self, look: Look) -> None:
        self._means.writer.write_json(f"{self._folder}/{LOOK_FILE}", look.written())

    def _excuse(self, error: FlakeReportError) -> None:
        """Go on without what failed, to try it again next time; but nothing goes without a token and its scopes."""
        if isinstance(error, RefusalError) and error.status in (401, 403):
            raise error
        self._means.warn(str(error))


def _rows(build: Payload) -> list[Payload] | None:
    jobs = build.get("jobs")
    return [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else None
