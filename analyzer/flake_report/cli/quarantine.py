"""`flake-report quarantine`: the list of known failures that the recorder excuses."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from flake_report import flow
from flake_report.collect.storage import LocalFolder
from flake_report.errors import FlakeReportError
from flake_report.report import quarantine

from .options import HistoryArguments, format_option, history_options
from .terminal import print_json, show


@click.command(name="quarantine", short_help="Write the list of known failures that the recorder excuses.")
@click.argument("file", default="quarantine.json")
@history_options
@click.option("--days", type=click.IntRange(1, 365), default=30, show_default=True, help="How long a new entry holds.")
@click.option("--renew", is_flag=True, help="Entries that ran out may come back, if the test still flakes.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@format_option
def command(
    file: str,
    days: int,
    renew: bool,  # noqa: FBT001  # click hands a flag as a bool
    dry_run: bool,  # noqa: FBT001  # click hands a flag as a bool
    form: str,
    **arguments: object,
) -> int:
    """Bring FILE up to date: what flakes is listed, what ran out or healed is dropped and named.

    An entry excuses the failures of one test, in one step and queue, that have one of its fingerprints: a known test
    that fails in a new way fails the build. The recorder applies it: pytest --gpu-guard-quarantine=FILE.

    \b
    flake-report quarantine --branch main --since 4w
    """
    where = HistoryArguments.from_click(arguments)
    today = datetime.now(UTC).date()
    listed, decided = flow.quarantine(
        where.store, where.query, where.report(), read_list(file), today=today, days=days, renew=renew
    )
    if not dry_run:
        path = Path(file)
        LocalFolder(path.parent).write(path.name, [quarantine.to_file(listed)])
    shown = f"{file} (not written)" if dry_run else file
    if form == "json":
        print_json(quarantine.to_json(shown, decided))
    else:
        show(*quarantine.to_text(shown, decided, today))
    return 0


def read_list(file: str) -> tuple[str, bytes] | None:
    """Name and bytes of the list as it is; None where there is none yet."""
    try:
        return file, Path(file).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FlakeReportError(f"{file}: cannot be read ({error.strerror}); name another file") from error
