"""The command `flake-report`: one module a command, loaded when it is asked for."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

import click

from flake_report import __version__
from flake_report.errors import FlakeReportError, NothingUsableError

from .harmless import harmless

COMMANDS = {
    "explain": "Name the cause of a failed job from its log.",
    "parse": "Show what is understood of test result files.",
    "collect": "Bring builds, logs and reports from Buildkite into an archive.",
    "ingest": "Read archives and folders of results into the store.",
    "show": "Tell which tests flake, and how often.",
    "tune": "Tell which GPU memory setting fits a test.",
    "quarantine": "Write the list of known failures that the recorder excuses.",
    "export": "Write the weekly page and its data files into a folder.",
    "annotate": "Say on the build itself which of its failures are known, and which are new.",
    "store": "Look at a store itself, and look after it.",
    "demo": "Try it all on a small simulated history.",
    "signatures": "List the failures that are recognised, or check your own.",
}
"""Each command with its first line of help, so that `--help` loads none of them."""

EXTRAS = {
    "deltalake": "report",
    "duckdb": "report",
    "fsspec": "report",
    "junitparser": "report",
    "numpy": "report",
    "obstore": "report",
    "pandas": "report",
    "py4j": "spark",
    "pyarrow": "report",
    "pyspark": "spark",
    "scipy": "report",
}
"""Which extra brings a package that the base install does without."""


class LazyGroup(click.Group):
    """Commands by name; importing one costs nothing until it runs."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"flake_report.cli.{name}").command
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="flake-report")
def group() -> None:
    """Name the cause of a failed GPU test, and count which tests flake.

    \b
    A red build at nine in the morning:   flake-report explain build.log
    The history of a pipeline:            flake-report ingest ARCHIVE && flake-report show
    No data at hand:                      flake-report demo
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 fine, 1 found nothing usable, 2 usage or input, 3 a bug, 130 interrupted."""
    try:
        return int(group.main(args=argv, prog_name="flake-report", standalone_mode=False) or 0)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit:
        return 0  # click's way to say that the reader has gone (`| head`)
    except BrokenPipeError:
        # The reader has gone (`| head`): nobody is left to be told, and Python must not try again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # the last line of defence: a bug is shown whole
        return _say(error)


def _say(error: BaseException) -> int:
    """One sentence on standard error for what a user can mend, the traceback for a bug; the exit status."""
    if isinstance(error, click.ClickException):
        error.show()
        return 2
    message, status = _expected(error)
    if not message:
        traceback.print_exception(error)
        message = f"version {__version__}: this is a bug; please report it with the lines above"
    click.echo(harmless(f"flake-report: {message}"), err=True)
    return status


def _expected(error: BaseException) -> tuple[str, int]:
    """The sentence and the exit status of an expected error; no sentence for a bug."""
    if isinstance(error, FlakeReportError):
        return str(error), 1 if isinstance(error, NothingUsableError) else 2
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return "interrupted", 130
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EIO} and error.filename is None:
        return f"what was found cannot be written out ({error.strerror}); give the output another place", 2
    if isinstance(error, ModuleNotFoundError):
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra:
            return f"this command needs {error.name}: pip install 'flake-report[{extra}]'", 2
    return "", 3


def run() -> None:
    """Entry point of the console script."""
    settle_threads()
    sys.exit(main())


_TURN = 0.001
"""Seconds that one thread goes on in Python while another waits. With five times as many, Python's own, a question of a
second takes 3 % longer: it is dozens of short statements, asked beside what is worked out of their answers.
"""


def settle_threads() -> None:
    """Say how the threads of this process go about: for a program of its own, before it loads numpy.

    numpy and scipy start none for matrices, as those here are small: each of the two would start a thread a processor,
    and these wait busily for a tenth of a second.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.setswitchinterval(_TURN)
