"""`show --why`: the evidence on one test, from a store to the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

FLAKE = "test_read_finishes_before_deadline"


@pytest.fixture
def why(run: Callable, demo_store: Path) -> Callable:
    def ask(*arguments: str):
        return run("show", "--store", demo_store, "--branch", "main", *arguments)

    return ask


def test_every_told_run_stands_with_its_attempts_and_links(why: Callable) -> None:
    ran = why("--why", FLAKE, "--queue", "gpu_1", "--format", "json")
    (story,) = json.loads(ran.out)["stories"]
    assert story["verdict"] == "flaky"
    assert [run["build"] for run in story["told_runs"]] == ["1238", "1261"]
    for told in story["told_runs"]:
        assert [attempt["outcome"] for attempt in told["attempts"]] == ["failed"]
        assert told["attempts"][0]["url"].startswith(f"{told['url']}#")


def test_the_numbers_are_those_of_show(why: Callable) -> None:
    listed = json.loads(why("--test", FLAKE, "--format", "json").out)["tests"]
    stories = json.loads(why("--why", FLAKE, "--format", "json").out)["stories"]
    assert [{name: told[name] for name in row} for row, told in zip(listed, stories, strict=True)] == listed


def test_a_person_sees_the_runs_in_order(why: Callable) -> None:
    _, _, runs = why("--why", FLAKE, "--queue", "gpu_1").out.partition("\n  runs\n")
    told = [line.strip().split("  ")[0] for line in runs.splitlines() if line.startswith("    build")]
    assert told == [
        "build 1201 to build 1237: 31 runs passed",
        "build 1238",
        "build 1239 to build 1260: 18 runs passed",
        "build 1261",
        "build 1262 to build 1272: 9 runs passed",
    ]


def test_a_test_that_is_not_there_is_said_and_ends_with_1(why: Callable) -> None:
    ran = why("--why", "no_such_test")
    assert (ran.status, "no test here is named like no_such_test" in ran.out) == (1, True)


def test_two_names_are_one_too_many(why: Callable) -> None:
    ran = why("--why", "a", "--test", "b")
    assert ran.status == 2
    assert "--why names the test already" in ran.err


def test_owners_are_those_of_show(why: Callable, home: Path) -> None:
    (home / "flake-report.toml").write_text('[owners]\n"*test_transfer_timeout*" = "@kv"\n')
    listed = json.loads(why("--test", FLAKE, "--format", "json").out)["tests"]
    stories = json.loads(why("--why", FLAKE, "--format", "json").out)["stories"]
    assert {told["owner"] for told in [*listed, *stories]} == {"@kv"}
