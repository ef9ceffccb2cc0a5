"""The commands `python -m gpu_guard check | probe | budget | profiles`: the same as the hooks do, for people."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Optional

from . import guard, probe
from .budget import GIB, Card, Want, highest, judge
from .line import one_line
from .memory import open_briefly
from .options import OPTIONS
from .profiles import ProfileError, load


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run one command; 0 fine, 2 a wrong configuration, 75 not enough memory, 130 interrupted."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
    except KeyboardInterrupt:
        return 130
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gpu_guard", description="Guards GPU memory in CI jobs.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="wait for memory and print the settings, as the hook does")
    check.add_argument("--profile", metavar="NAME")
    check.add_argument("--profiles-file", metavar="FILE", type=Path, help="a table of your own, in JSON")
    check.add_argument("--utilization", metavar="SHARE", type=_limits("utilization"))
    check.add_argument("--min-free", metavar="GIB", type=_limits("min-free"), help="must be free on each card")
    check.add_argument("--wait", metavar="SECONDS", type=_limits("wait"), default=0.0)
    check.add_argument("--on-contention", choices=("refuse", "warn"), default="refuse")
    check.add_argument("--on-no-gpu", choices=("refuse", "pass"), default="refuse")
    check.add_argument("--clean-own-leftovers", action="store_true")
    check.set_defaults(run=_check)
    look = commands.add_parser("probe", help="show each visible GPU, how full it is, and who fills it")
    look.add_argument("--json", action="store_true")
    look.set_defaults(run=_probe)
    budget = commands.add_parser("budget", help="say what a utilization asks of a card, and what would fit")
    budget.add_argument("--free", metavar="GIB", type=_limits("min-free"), required=True)
    budget.add_argument("--total", metavar="GIB", type=_limits("min-free"), required=True)
    budget.add_argument("--utilization", metavar="SHARE", type=_limits("utilization"), required=True)
    budget.set_defaults(run=_budget)
    profiles = commands.add_parser("profiles", help="list the profiles, or say what is wrong with a table")
    profiles.add_argument("--profiles-file", metavar="FILE", type=Path)
    profiles.set_defaults(run=_profiles)
    return parser


def _check(arguments: argparse.Namespace) -> int:
    decision = guard.check(
        profile=arguments.profile,
        utilization=arguments.utilization,
        min_free=arguments.min_free,
        wait=arguments.wait,
        on_contention=arguments.on_contention,
        on_no_gpu=arguments.on_no_gpu,
        clean_own_leftovers=arguments.clean_own_leftovers,
        profiles_file=arguments.profiles_file,
        say=_tell,
    )
    for sentence in decision.sentences:
        _tell(sentence)
    for name, value in decision.settings.items():
        _show(f"export {name}={shlex.quote(value)}")
    return decision.exit_status


def _probe(arguments: argparse.Namespace) -> int:
    meter = open_briefly()
    try:
        snapshot = probe.take(meter)
    finally:
        meter.close()
    if snapshot is None or not snapshot.devices:
        reason = "its driver gives no reading" if snapshot is None else meter.source
        _tell(f"no GPU is visible here ({reason})")
        return guard.WRONG
    for line in [json.dumps(snapshot.as_data())] if arguments.json else snapshot.lines():
        _show(line)
    return 0


def _budget(arguments: argparse.Namespace) -> int:
    card = Card("the card", round(arguments.free * GIB), round(arguments.total * GIB))
    answer = judge([card], Want(arguments.utilization))
    _show(f"{answer.sentence}; the highest that fits is {highest(card.free, card.total)}")
    return 0 if answer.utilization is not None else guard.CONTENTION


def _profiles(arguments: argparse.Namespace) -> int:
    try:
        found = load(arguments.profiles_file)
    except ProfileError as error:
        for mistake in error.mistakes:
            _tell(mistake)
        return guard.WRONG
    for name, profile in sorted(found.items()):
        _show(f"{name}: ceiling {profile.ceiling}, floor {profile.floor or profile.ceiling}; {profile.about}")
    return 0


def _show(line: str) -> None:
    sys.stdout.write(one_line(line) + "\n")


def _tell(line: str) -> None:
    """What is no result goes beside it, at once."""
    sys.stderr.write(one_line(line) + "\n")
    sys.stderr.flush()


def _limits(name: str) -> Callable[[str], float]:
    """How a number is read that has the limits of the plugin's option of this name."""
    (option,) = (option for option in OPTIONS if option.name == name)

    def read(text: str) -> float:
        try:
            value: object = float(text)
        except ValueError:
            value = text
        wrong = option.mistake(value)
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong}, not {text}")
        return float(text)

    return read
