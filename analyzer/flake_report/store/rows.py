"""Job records to columns: what each kind of row holds, and in which week it lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import accumulate, chain
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from flake_report.model.record import ClassifiedAttempt, JobRecord
from flake_report.model.results import Attempt, TestId

from .layout import TABLES, file_schema

Columns: TypeAlias = dict[str, Sequence[Any]]

_AT_ONCE = 4096
"""Rows turned into columns together: so many stay in the processor's cache."""


def table_of(kind: str, records: Sequence[tuple[int, JobRecord]]) -> pa.Table:
    """All rows of one kind that these records hold, each record with its `ingest`.

    Columns that the kind's makers below do not name are null. `commit_version` is null here: the commit fills it.
    """
    columns = MAKERS[kind](records)
    rows = len(columns["ingest"])
    return pa.table(
        [_array(columns.get(name) or [None] * rows, typed) for name, typed in TABLES[kind].items()],
        schema=file_schema(kind),
    )


def _builds(records: Sequence[tuple[int, JobRecord]]) -> Columns:
    builds = [record.build for _, record in records]
    return {
        "org": [build.org for build in builds],
        "pipeline": [build.pipeline for build in builds],
        "build": [build.key for build in builds],
        "ingest": [ingest for ingest, _ in records],
        "number": [build.number for build in builds],
        "commit": [build.commit for build in builds],
        "branch": [build.branch for build in builds],
        "source": [build.source for build in builds],
        "created_at": [build.created_at for build in builds],
        "state": [build.state for build in builds],
    }


def _jobs(records: Sequence[tuple[int, JobRecord]]) -> Columns:
    jobs = [record.job for _, record in records]
    return {
        **_keys(records, [1] * len(records)),
        "id": [job.id for job in jobs],
        "step": [job.step for job in jobs],
        "label": [job.label for job in jobs],
        "queue": [job.queue for job in jobs],
        "agent": [job.agent for job in jobs],
        "host": [job.host for job in jobs],
        "state": [job.state.value for job in jobs],
        "exit_status": [job.exit_status for job in jobs],
        "signal_reason": [job.signal_reason for job in jobs],
        "soft_failed": [job.soft_failed for job in jobs],
        "attempt": [job.attempt for job in jobs],
        "retry_type": [job.retry_type.value if job.retry_type else None for job in jobs],
        "retry_of": [job.retry_of for job in jobs],
        "shard": [job.shard for job in jobs],
        "started_at": [job.started_at for job in jobs],
        "finished_at": [job.finished_at for job in jobs],
        "command": [job.command for job in jobs],
        "sources": [_json(record.sources) for _, record in records],
        "mode": [record.mode.value for _, record in records],
        "warnings": [len(record.warnings) for _, record in records],
        "warning_texts": [_json(record.warnings) for _, record in records],
        "parser_version": [record.versions.parser for _, record in records],
        "signatures_version": [record.versions.signatures for _, record in records],
        "fingerprint_version": [record.versions.fingerprint for _, record in records],
        "diagnosis_version": [record.versions.diagnosis for _, record in records],
    }


def _attempts(records: Sequence[tuple[int, JobRecord]]) -> Columns:
    # The most rows by far. Outcome, phase and source are text themselves: asked for their `value`, each takes longer.
    classified = _columns(ClassifiedAttempt, [attempt for _, record in records for attempt in record.attempts])
    attempts = _columns(Attempt, classified["attempt"])
    tests = _columns(TestId, attempts["test"])
    rows = [len(record.attempts) for _, record in records]
    return {
        **_keys(records, rows),
        "ordinal": list(chain.from_iterable(map(range, rows))),
        **tests,
        **{name: attempts[name] for name in TABLES["attempts"].keys() & attempts.keys()},
        "attempt": attempts["number"],
        "attempts_known": attempts["known"],
        "signature": classified["signature"],
        "blame": classified["blame"],
    }


def _columns(rows_of: type[NamedTuple], rows: Sequence[NamedTuple]) -> dict[str, list[Any]]:
    """The fields of many named tuples, each as a column: in half the time that `zip` takes."""
    columns: dict[str, list[Any]] = {name: [] for name in rows_of._fields}
    for at in range(0, len(rows), _AT_ONCE):
        values = list(chain.from_iterable(rows[at : at + _AT_ONCE]))
        for place, column in enumerate(columns.values()):
            column.extend(values[place :: len(columns)])
    return columns


def _matches(records: Sequence[tuple[int, JobRecord]]) -> Columns:
    causes = [cause for _, record in records for cause in record.causes]
    return {
        **_keys(records, [len(record.causes) for _, record in records]),
        "signature": [cause.signature for cause in causes],
        "blame": [cause.blame.value for cause in causes],
        "line": [cause.line for cause in causes],
        "text": [cause.text for cause in causes],
        "test": [cause.test for cause in causes],
        "count": [cause.count for cause in causes],
        "captures": [_json(dict(cause.captures)) for cause in causes],
        "diagnosis": [cause.diagnosis.kind.value if cause.diagnosis else None for cause in causes],
    }


def _memory(records: Sequence[tuple[int, JobRecord]]) -> Columns:
    samples = [sample for _, record in records for sample in record.memory]
    return {
        **_keys(records, [len(record.memory) for _, record in records]),
        "at": [sample.at for sample in samples],
        "device": [sample.device for sample in samples],
        "free": [sample.free for sample in samples],
        "total": [sample.total for sample in samples],
        "used": [sample.used for sample in samples],
        "torch_reserved": [sample.torch_reserved for sample in samples],
        "holders": [
            _json([{"pid": holder.pid, "name": holder.name, "bytes": holder.size} for holder in sample.holders])
            for sample in samples
        ],
        "test": [sample.test for sample in samples],
        "when": [sample.when.value for sample in samples],
    }


def _engines(records: Sequence[tuple[int, JobRecord]]) -> Columns:
    starts = [asdict(start) for _, record in records for start in record.engines]
    keys = _keys(records, [len(record.engines) for _, record in records])
    return {**keys, **{name: [start[name] for start in starts] for name in TABLES["engines"].keys() - keys.keys()}}


MAKERS: dict[str, Callable[[Sequence[tuple[int, JobRecord]]], Columns]] = {
    "builds": _builds,
    "jobs": _jobs,
    "attempts": _attempts,
    "matches": _matches,
    "memory": _memory,
    "engines": _engines,
}
"""One maker a kind, for every kind of the layout."""


def _keys(records: Sequence[tuple[int, JobRecord]], rows: Sequence[int]) -> Columns:
    """The key columns, each record's values repeated for as many rows as it has."""
    own: Columns = {
        "org": [record.build.org for _, record in records],
        "pipeline": [record.build.pipeline for _, record in records],
        "build": [record.build.key for _, record in records],
        "ingest": [ingest for ingest, _ in records],
        "job": [record.job.id for _, record in records],
    }
    some = [at for at, count in enumerate(rows) if count]
    ends = pa.array(accumulate(rows[at] for at in some), pa.int64())
    return {name: _runs([values[at] for at in some], ends, TABLES["jobs"][name]) for name, values in own.items()}


def _runs(values: Sequence[Any], ends: pa.Array, typed: pa.DataType) -> pa.Array:
    """Each value over and over, until the row where its run ends."""
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, _array(values, typed)))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _array(values: Sequence[Any], typed: pa.DataType) -> pa.Array:
    """An Arrow column; a value that the type cannot hold is mended by `_held`, which only damaged input needs."""
    if isinstance(values, pa.Array):
        return values
    try:
        if _all_the_same(values, typed):
            return pa.repeat(pa.scalar(values[0], typed), len(values))
        return _times(values, typed) if pa.types.is_timestamp(typed) else pa.array(values, typed)
    except (UnicodeEncodeError, OverflowError, pa.ArrowInvalid):
        return pa.array([_held(value) for value in values], typed)


def _all_the_same(values: Sequence[Any], typed: pa.DataType) -> bool:
    """Whether it is one value over and over, as in most columns of a report's attempts: so it is reckoned once."""
    if not values or values[0] != values[-1] or pa.types.is_floating(typed):  # 0.0 and -0.0 are equal, not the same
        return False
    return values.count(values[0]) == len(values)


def _times(values: Sequence[Any], typed: pa.DataType) -> pa.Array:
    """Each different time is reckoned once: the attempts of a report mostly have that of their suite."""
    places: dict[Any, int] = {}
    at = [places.setdefault(value, len(places)) for value in values]
    return pa.array(list(places), typed).take(pa.array(at, pa.int64()))


def _held(value: Any) -> Any:
    """Text without lone surrogates, as `?`; None for a number beyond 64 bits, which no sound input holds."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return None
    return value
