"""Buildkite's REST shapes of builds and jobs, turned into ours; nothing else knows the wire's field names.

Fields as documented at buildkite.com/docs/apis/rest-api/builds and …/jobs. What is absent or of a wrong type reads
as unknown; a build without number or creation time is an error, since its runs could not be put in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Build, Job, JobState, RetryType

from .joblist import ListedJob

_RETRY_FIELDS = ("retried", "retried_in_job_id", "retries_count", "retry_source", "retry_type")
_FAILED = (JobState.FAILED, JobState.TIMED_OUT)

Payload: TypeAlias = Mapping[str, Any]
"""One JSON object as Buildkite sent it."""

_SHORTCODE = re.compile(r"(?<![\w:])(?::[a-z0-9_+-]+:)+")
# By code point and not by Unicode category: what runs in the job is tested by the same cases under older Pythons.
_EMOJI = re.compile(
    "[0-9#*]\ufe0f?\u20e3|[^\x00-\x7f]\ufe0f|"
    "[\u200d\ufe0f\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001fbff\U000e0020-\U000e007f]"
)
_OF = r"\s*(?:/|\bof\b)\s*"
_PLACE = rf"(?:(?:shard|part)\s+)?(?:#?(\d+){_OF}(\d+)|%n(?:{_OF}(?:\d+|%[nt]))?)|shard\s+#?(\d+)"
_SHARD = re.compile(rf"(?:\s*\(\s*(?:{_PLACE})\s*\)|\s*\[\s*(?:{_PLACE})\s*\]|(?<![\w./])(?:{_PLACE}))$", re.IGNORECASE)
_NUMBER = re.compile(r"\s+(?:#?\d+|\(#?\d+\)|\[#?\d+\])$")
_SEPARATORS = " -–—:|,"
_ADDRESS = re.compile(r"/organizations/([^/?]+)/pipelines/([^/?]+)/builds/")
_RETRY_TYPES = {kind.value: kind for kind in RetryType}


def read_build(payload: Payload, org: str, pipeline: str) -> Build:
    """The build that a REST object describes."""
    number = _integer(payload, "number")
    created_at = _time(payload, "created_at")
    if number is None or created_at is None:
        missing = "number" if number is None else "created_at"
        raise FlakeReportError(f"build of {org}/{pipeline} without a readable `{missing}`; collect it again")
    return Build(
        org=org,
        pipeline=pipeline,
        key=str(number),
        number=number,
        commit=_text(payload, "commit"),
        branch=_text(payload, "branch"),
        source=_text(payload, "source"),
        created_at=created_at,
        state=_text(payload, "state"),
    )


def home_of(build: Payload) -> tuple[str, str]:
    """The slugs of a build's organization and pipeline, out of its own address: for builds that come without them."""
    found = _ADDRESS.search(_text(build, "url"))
    if not found:
        raise FlakeReportError(
            f"build {build.get('number')} without a readable `url`: its pipeline is unknown; left out"
        )
    return found[1], found[2]


def read_jobs(payloads: Iterable[Payload]) -> list[Job]:
    """The command jobs among all of one build's; waits, blocks and triggers ran nothing and are left out.

    All of a build's jobs are needed at once: a retry is known from either end of the link.
    """
    jobs = {_text(payload, "id"): payload for payload in payloads if payload.get("type", "script") == "script"}
    links = _retry_links(jobs.values())
    return [_read_job(payload, jobs, links) for identity, payload in jobs.items() if identity]


def retold(job: Payload, later: Payload) -> Payload:
    """A finished job as it was kept, with what a later look at its build tells of its retries."""
    return {**job, **{name: later[name] for name in _RETRY_FIELDS if later.get(name) is not None}}


def listed_jobs(payload: Payload) -> list[ListedJob]:
    """The command jobs of a build for a person to choose from; a soft failure is a failure too."""
    rows = payload.get("jobs")
    jobs = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return [
        ListedJob(
            id=identity,
            step=_text(_mapping(job, "step"), "id"),
            name=_text(job, "label") or _text(job, "name"),
            failed=JobState(_text(job, "state")) in _FAILED,
            soft=job.get("soft_failed") is True,
        )
        for job in jobs
        if job.get("type", "script") == "script" and (identity := _text(job, "id"))
    ]


def step_of(step_key: str, label: str, *, parallel: bool = False) -> str:
    """What tells steps apart over builds: the key, else the label without emoji and shard suffix.

    A bare number at the label's end is a shard only in a `parallel` job. The recorder reads labels the same way: both
    are tested by the guard's `label.cases.json`.
    """
    if step_key:
        return step_key
    plain = " ".join(_EMOJI.sub("", _SHORTCODE.sub(" ", label)).split())
    whole = _SHARD.sub("", plain)
    if whole == plain and parallel:
        whole = _NUMBER.sub("", plain)
    return (whole if whole == plain else whole.rstrip(_SEPARATORS)) or label


def _read_job(payload: Payload, jobs: Mapping[str, Payload], links: Mapping[str, str]) -> Job:
    identity = _text(payload, "id")
    agent = _mapping(payload, "agent")
    label = _text(payload, "label") or _text(payload, "name")
    attempt, retry_of = _place_in_chain(payload, links)
    return Job(
        id=identity,
        step=step_of(_text(payload, "step_key"), label, parallel=_integer(payload, "parallel_group_total") is not None),
        label=label,
        queue=_queue(payload, agent),
        agent=_text(agent, "name"),
        host=_text(agent, "hostname"),
        state=JobState(_text(payload, "state")),
        exit_status=_integer(payload, "exit_status"),
        signal_reason=_text(payload, "signal_reason"),
        soft_failed=payload.get("soft_failed") is True,
        attempt=attempt,
        retry_type=_retry_type(payload, jobs.get(retry_of or "", {})) if attempt else None,
        retry_of=retry_of,
        shard=_shard(payload, label),
        started_at=_time(payload, "started_at"),
        finished_at=_time(payload, "finished_at"),
        command=_text(payload, "command"),
    )


def _retry_links(payloads: Iterable[Payload]) -> dict[str, str]:
    """Job id to the id of the job that it retried, from both ends of each link."""
    links: dict[str, str] = {}
    for payload in payloads:
        if source := _text(_mapping(payload, "retry_source"), "job_id"):
            links[_text(payload, "id")] = source
        if successor := _text(payload, "retried_in_job_id"):
            links.setdefault(successor, _text(payload, "id"))
    return links


def _place_in_chain(payload: Payload, links: Mapping[str, str]) -> tuple[int, str | None]:
    identity = _text(payload, "id")
    if identity not in links:
        # `retries_count` of a job that was retried itself counts what came after it, not before.
        return (0 if payload.get("retried") is True else max(_integer(payload, "retries_count") or 0, 0)), None
    seen, current = {identity}, identity
    while (earlier := links.get(current)) and earlier not in seen:
        seen.add(earlier)
        current = earlier
    return len(seen) - 1, links[identity]


def _retry_type(payload: Payload, retried: Payload) -> RetryType | None:
    said = (
        _text(_mapping(payload, "retry_source"), "retry_type"),
        _text(retried, "retry_type"),
        _text(payload, "retry_type"),
    )
    return next((_RETRY_TYPES[word] for word in said if word in _RETRY_TYPES), None)


def _queue(payload: Payload, agent: Payload) -> str:
    for rules in (payload.get("agent_query_rules"), agent.get("meta_data")):
        for rule in rules if isinstance(rules, list) else ():
            name, _, value = str(rule).partition("=")
            if name.strip() == "queue":
                return value.strip()
    return ""


def _shard(payload: Payload, label: str) -> str:
    """The place in a parallel step as Buildkite counts it, else as the label says it."""
    index, total = _integer(payload, "parallel_group_index"), _integer(payload, "parallel_group_total")
    if index is not None and total is not None:
        return f"{index}/{total}"
    found = _SHARD.search(label.rstrip())
    numbers = [number for number in found.groups() if number] if found else []
    return "/".join(numbers)


def _mapping(payload: Payload, key: str) -> Payload:
    value = payload.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(payload: Payload, key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _integer(payload: Payload, key: str) -> int | None:
    value = payload.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _time(payload: Payload, key: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(_text(payload, key))
    except ValueError:
        return None
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
