"""How right the verdicts are on simulated histories, beside known-bad rules and, where they are at hand, two others.

    python -m venv peers && peers/bin/pip install flakemap flakeguard
    .venv/bin/python tests/bench/bench_verdicts.py [--worlds 40] [--peers peers/bin] [--peer-worlds 4]

A world is 240 builds of two steps with 90 tests each (`tests/rate/simulated/plan.py` says what is in it). flakemap and
flakeguard read one JUnit file a job, retries included, with its commit beside it in the way that each asks for; reruns
in a session are Surefire's elements, which both know; a job that was lost leaves no file. They are scored on the same
worlds as ours stands beside them. Regressions that landed twice and said the same stand apart.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from flake_report.model.rate import Fleet
from flake_report.model.record import ClassifiedAttempt
from flake_report.model.results import Outcome
from rate.simulated.fleets import fleet
from rate.simulated.known_bad import flip_or_two_episodes, red_between_green
from rate.simulated.plan import Plan
from rate.simulated.records import records
from rate.simulated.score import Score, ours, score
from rate.simulated.world import World, world

RULES: dict[str, Callable[[Fleet], list[bool]]] = {
    "flake-report": ours,
    "flip or two episodes": flip_or_two_episodes,
    "red between green": red_between_green,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--peer-worlds", type=int, default=4)
    given = parser.parse_args()
    print(f"{'':24}precision  recall  regressions called flaky        relanded ones")
    totals = dict.fromkeys(RULES, Score())
    for seed in range(given.worlds):
        simulated = world(Plan(), seed)
        histories = fleet(simulated)
        for name, rule in RULES.items():
            totals[name] += score(simulated, histories, rule(histories))
    for name, total in totals.items():
        show(name, total)
    if given.peers:
        beside(given.peers, given.peer_worlds)


def beside(peers: Path, worlds: int) -> None:
    """The others on their first worlds, and ours on the same."""
    totals = dict.fromkeys(("flake-report, same", "flakemap", "flakeguard"), Score())
    for seed in range(worlds):
        simulated = world(Plan(), seed)
        histories = fleet(simulated)
        with tempfile.TemporaryDirectory() as scratch:
            write(simulated, Path(scratch))
            called = {
                "flake-report, same": ours(histories),
                "flakemap": named(histories, flakemap(peers, Path(scratch))),
                "flakeguard": named(histories, flakeguard(peers, Path(scratch))),
            }
        for name, flaky in called.items():
            totals[name] += score(simulated, histories, flaky)
    for name, total in totals.items():
        show(name, total)


def show(name: str, total: Score) -> None:
    excused = f"{total.excused} of {total.regressions}"
    print(
        f"{name:24}{total.precision:9.3f}{total.recall:8.3f}{excused:>26}"
        f"{f'{total.relanded_excused} of {total.relanded}':>21}"
    )


def write(simulated: World, folder: Path) -> None:
    """One report a job that ended, with its commit for flakemap beside it, and a manifest for flakeguard."""
    runs = []
    for nth, record in enumerate(records(simulated)):
        if record.job.died:
            continue
        stem = f"{nth:05}"
        (folder / f"{stem}.xml").write_bytes(junit(record.attempts))
        about = {"run_id": stem, "commit": record.build.commit, "branch": "main", "sequence": nth}
        (folder / f"{stem}.meta.json").write_text(json.dumps(about), encoding="utf-8")
        runs.append({"commit": record.build.commit, "label": stem, "reports": [str(folder / f"{stem}.xml")]})
    (folder / "manifest").write_text(json.dumps({"runs": runs}), encoding="utf-8")


def junit(attempts: tuple[ClassifiedAttempt, ...]) -> bytes:
    suite = ET.Element("testsuite", name="pytest", tests=str(len(attempts)))
    cases: dict[str, list[ClassifiedAttempt]] = {}
    for each in attempts:
        cases.setdefault(each.attempt.test.name, []).append(each)
    for name, tried in cases.items():
        case = ET.SubElement(suite, "testcase", classname="v1.test_world", name=name, time="1.0")
        first, last = tried[0].attempt, tried[-1].attempt
        if last.outcome is Outcome.SKIPPED:
            ET.SubElement(case, "skipped")
        elif last.outcome.bad:
            ET.SubElement(case, "failure", message=first.message).text = first.message
            for again in tried[1:]:
                ET.SubElement(case, "rerunFailure", message=again.attempt.message)
        elif first.outcome.bad:
            ET.SubElement(case, "flakyFailure", message=first.message)
    data: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return data


def named(histories: Fleet, names: set[str]) -> list[bool]:
    return [history.variant.test.name in names for history in histories.histories]


def flakemap(peers: Path, folder: Path) -> set[str]:
    told = json.loads(run(peers / "flakemap", str(folder), "--json", "--pattern", "*.xml"))
    return {test["test"].rpartition(".")[2] for test in told["tests"] if test["classification"] == "flaky"}


def flakeguard(peers: Path, folder: Path) -> set[str]:
    told = json.loads(run(peers / "flakeguard", "scan", "--manifest", str(folder / "manifest"), "--format", "json"))
    return {test["name"] for test in told["flaky_tests"]}


def run(program: Path, *arguments: str) -> str:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main()
