"""An earlier export's `flakes.json`: the failures that are known."""

from __future__ import annotations

from flake_report.errors import FlakeReportError
from flake_report.model.failure import Blame
from flake_report.model.known import SCHEMA, KnownFailures, KnownIncident, KnownTest, KnownWay
from flake_report.model.verdict import TestVerdict

from .baseline import read_variant
from .fields import Fields, value_of

_VERDICTS = {verdict.value: verdict for verdict in TestVerdict}
_BLAMES = {blame.value: blame for blame in Blame}


def read_flakes(data: bytes, name: str) -> KnownFailures:
    """All that the file knows; a field that is not what it should be reads as unknown.

    Raises `FlakeReportError` where it is no such file: nothing must look new for want of reading.
    """
    found = value_of(data)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA or not isinstance(found.get("tests"), list):
        raise FlakeReportError(f"{name}: is no {SCHEMA} file; give the flakes.json that flake-report export wrote")
    known = Fields(found)
    return KnownFailures(
        builds=known.whole("builds") or 0,
        oldest=known.time("oldest"),
        newest=known.time("newest"),
        branch=known.text("branch"),
        tests=tuple(_test(row) for row in known.objects("tests")),
        incidents=tuple(_incident(row) for row in known.objects("incidents")),
        left_out=known.whole("left_out") or 0,
    )


def _test(row: Fields) -> KnownTest:
    return KnownTest(
        variant=read_variant(row),
        verdict=_VERDICTS.get(row.text("verdict"), TestVerdict.UNKNOWN),
        reason=row.text("reason"),
        runs=row.whole("runs") or 0,
        own_runs=row.whole("own_runs") or 0,
        first_failures=row.whole("first_failures") or 0,
        rate=row.number("rate") or 0.0,
        victim_runs=row.whole("victim_runs") or 0,
        signature=row.text("signature"),
        owner=row.text("owner"),
        ways=tuple(
            KnownWay(
                fingerprint=way.text("fingerprint"),
                runs=way.whole("runs") or 0,
                flake=way.flag("flake"),
                last=way.text("last"),
                url=way.text("url"),
            )
            for way in row.objects("ways")
        ),
        until=row.time("until"),
    )


def _incident(row: Fields) -> KnownIncident:
    return KnownIncident(
        signature=row.text("signature"),
        fingerprint=row.text("fingerprint"),
        blame=_BLAMES.get(row.text("blame")),
        incidents=row.whole("incidents") or 0,
        victims=row.whole("victims") or 0,
        first_at=row.time("first_at"),
        last_at=row.time("last_at"),
    )
