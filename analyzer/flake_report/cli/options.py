"""Options and values that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from flake_report import reporting
from flake_report.config import parse_config, share, span
from flake_report.errors import FlakeReportError
from flake_report.model.config import Config, OwnersConfig, QueueConfig
from flake_report.model.query import Query
from flake_report.model.report import FlakeReport, Page
from flake_report.model.story import Stories

from .terminal import warn

CONFIG_FILE = "flake-report.toml"

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])

format_option = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="For people, or for programs."
)


def store_option(text: str = "The store; else the setting [store] path.") -> Callable[[_Decorated], _Decorated]:
    """`--store PATH`, with this help. An empty path, as of a variable that is not set, is an error and no default."""

    def named(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
        if path is not None and not path.strip():
            raise click.BadParameter("it is empty; name a store, or leave the option out")
        return path

    return click.option("--store", metavar="PATH", callback=named, help=text)


engine_option = click.option(
    "--engine",
    metavar="NAME",
    default="duckdb",
    show_default=True,
    help="What does the work: duckdb, spark (this machine), or spark=MASTER such as spark=spark://host:7077.",
)


class Since(click.ParamType[timedelta | datetime | None]):
    """A span back from the newest build (`36h`, `14d`, `4w`), or a date in UTC (`2026-11-01`)."""

    name = "span"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta | datetime | None:
        if value is None or isinstance(value, timedelta | datetime):
            return value
        text = str(value).strip()
        with suppress(ValueError):
            return span(text)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            self.fail(f"{text!r} is no span such as 36h, 14d, 4w, and no date such as 2026-11-01", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class Share(click.ParamType[float]):
    """A part of a whole, written as `80%` or `0.5%`."""

    name = "share"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            return share(value)
        except ValueError:
            self.fail(f"{value!r} is no share such as 80% or 0.5%", param, ctx)


def load_config() -> Config:
    """The settings of `flake-report.toml` in the working folder; the defaults where there is none."""
    path = Path(CONFIG_FILE)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise FlakeReportError(f"{path}: cannot be read ({error}); mend or remove the file") from error
    return parse_config(text, str(path))


@dataclass(frozen=True, slots=True)
class HistoryArguments:
    """Which part of which store, after options and settings are joined."""

    store: str
    query: Query
    budget: float
    queues: Mapping[str, QueueConfig]
    owners: OwnersConfig
    engine: str = "duckdb"

    @classmethod
    def from_click(cls, arguments: Mapping[str, Any]) -> HistoryArguments:
        """From the values that `history_options` made; an option beats its setting."""
        config = load_config()
        query = Query(
            since=config.rates.since if arguments["since"] is None else arguments["since"],
            branch=arguments["branch"] or config.rates.branch,
            step=arguments["step"],
            queue=arguments["queue"],
            test=arguments["test"],
        )
        store = arguments["store"] or config.store.path
        engine = str(arguments.get("engine") or "duckdb")
        return cls(store, query, config.rates.budget, config.queues, config.owners, engine)

    def report(self) -> FlakeReport:
        """The state of that part. What is not read of a CODEOWNERS file is said on standard error."""
        owners = reporting.ownership(self.owners.tests, _codeowners(self.owners.codeowners), warn)
        return reporting.show(
            self.store, self.query, budget=self.budget, queues=self.queues, ownership=owners, engine=self.engine
        )

    def told(self) -> tuple[FlakeReport, Stories]:
        """The same as `report`, with the evidence behind every verdict."""
        owners = reporting.ownership(self.owners.tests, _codeowners(self.owners.codeowners), warn)
        return reporting.told(
            self.store, self.query, budget=self.budget, queues=self.queues, ownership=owners, engine=self.engine
        )

    def report_page(self, form: str, write: Callable[[FlakeReport], str], *, brief: bool) -> Page:
        """What `write` makes of the report, or made of it before; `form` names all else on which that depends.

        `brief`: what it writes in this form needs a brief report alone; see `FlakeReport`.
        """
        owners = reporting.ownership(self.owners.tests, _codeowners(self.owners.codeowners), warn)
        return reporting.show_page(
            self.store,
            self.query,
            budget=self.budget,
            queues=self.queues,
            ownership=owners,
            engine=self.engine,
            form=form,
            write=write,
            brief=brief,
        )

    def stories_page(self, form: str, write: Callable[[Stories], str]) -> Page:
        """The same of the evidence on the tests of that part."""
        owners = reporting.ownership(self.owners.tests, _codeowners(self.owners.codeowners), warn)
        return reporting.why_page(
            self.store, self.query, budget=self.budget, ownership=owners, engine=self.engine, form=form, write=write
        )


CODEOWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where the forges look for it, from the repository's root; the first that exists counts."""


def _codeowners(named: str | None) -> tuple[str, str] | None:
    """Name and text of the CODEOWNERS file: the one that the settings name, else the working folder's."""
    if named is not None:
        return named, read_text(named)
    found = next((name for name in CODEOWNERS if Path(name).is_file()), None)
    return (found, read_text(found)) if found else None


def history_options(command: _Decorated) -> _Decorated:
    """Which part of which store: what `show` and `export` have in common."""
    for option in reversed(
        [
            store_option(),
            click.option(
                "--since",
                type=Since(),
                help="Back from the newest build (36h, 14d, 4w), or from a date; else the setting [rates] since.",
            ),
            click.option("--branch", help="This branch alone; else the setting [rates] branch."),
            click.option("--step", help="Steps that hold this text, or match this pattern of * and ?."),
            click.option("--queue", help="Queues that hold this text, or match this pattern of * and ?."),
            click.option("--test", help="Tests that hold this text, or match this pattern of * and ?."),
        ]
    ):
        command = option(command)
    return command


signatures_option = click.option(
    "--signatures", metavar="FILE", multiple=True, help="Your own failure signatures (TOML), before the packaged ones."
)


def user_signatures(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each file's name and text."""
    return [(name, read_text(name)) for name in names]


def read_text(name: str) -> str:
    """A small text file that the user named."""
    try:
        return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise FlakeReportError(f"{name}: cannot be read ({error.strerror}); give a file that exists") from error
    except UnicodeDecodeError as error:
        raise FlakeReportError(f"{name}: not UTF-8 text at byte {error.start}; save it as UTF-8") from error
