"""Known failures run, are told and shown, and fail no session; anything new does."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

import gpu_guard
from gpu_guard.recorder.quarantine import Quarantine, QuarantineError, read_quarantine

CASES = json.loads(Path(gpu_guard.__file__).with_name("quarantine.cases.json").read_text(encoding="utf-8"))["cases"]
KNOWN = "2d2c0d45a2d1311f"  # ValueError: bad size #
SUITE = """
import pytest
@pytest.mark.parametrize("size", [7, 8])
def test_known(size): raise ValueError(f"bad size {size}")
def test_passes(): pass
"""


def entry(**more: object) -> dict[str, object]:
    fixed = {
        "test": "test_it.py::test_known*",
        "fingerprints": [KNOWN],
        "reason": "allocator race",
        "owner": "@gpu",
        "expires": "2999-01-01",
    }
    return {**fixed, **more}


def listed(runner, *entries: dict[str, object]) -> str:
    runner.write({"known.json": json.dumps({"schema": "flake-quarantine/1", "entries": list(entries)})})
    return "--gpu-guard-quarantine=known.json"


@pytest.mark.parametrize("name", ["pytest 7", "pytest 8"])
def test_older_pytests_excuse_too(name, environment, runner_of):
    runner = runner_of(environment(name))
    assert runner.run(SUITE, listed(runner, entry()), "-x").code == 0


@pytest.mark.parametrize("more", [(), ("-x",), ("--maxfail=2",), ("-n2",), ("-n2", "-x")], ids=" ".join)
def test_an_excused_failure_fails_no_session_and_stops_none(more, runner):
    plugins = ("xdist",) if "-n2" in more else ()
    run = runner.run(SUITE, listed(runner, entry()), "--junitxml=theirs.xml", *more, plugins=plugins)
    assert run.code == 0, run.output
    assert run.lines[-1]["exit_status"] == 0
    assert sorted(run.told) == [
        ("test_known[7]", 0, "failed"),
        ("test_known[8]", 0, "failed"),
        ("test_passes", 0, "passed"),
    ]
    assert [line["quarantined"] for line in run.attempts if line["outcome"] == "failed"] == [True, True]
    assert "1 passed, 2 quarantined" in run.output
    assert "test_it.py::test_known[7] (allocator race; owner @gpu; until 2999-01-01)" in run.output
    assert "ValueError: bad size 7" in run.output
    assert (runner.folder / "theirs.xml").read_text().count("<failure") == 2
    assert run.junit["test_known[7]"].find("failure") is not None
    assert run.junit["test_known[7]"].find("properties/property").attrib == {
        "name": "gpu_guard.quarantined",
        "value": KNOWN,
    }


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        (SUITE.replace("bad size", "no size at all"), 2),
        (SUITE + "def test_another(): raise ValueError('bad size 9')\n", 1),
        (
            SUITE
            + "@pytest.fixture\ndef messy():\n    yield\n    raise OSError('new')\n"
            + "def test_known_too(messy): raise ValueError('bad size 1')\n",
            1,
        ),
    ],
    ids=["a new fingerprint", "another test", "an excused call and a teardown that fails in a new way"],
)
def test_what_is_new_fails_the_session(text, failed, runner):
    run = runner.run(text, listed(runner, entry()))
    assert run.code == run.lines[-1]["exit_status"] == 1
    assert sum(line["outcome"] in ("failed", "error") and "quarantined" not in line for line in run.attempts) == failed


def test_maxfail_counts_what_is_not_excused(runner):
    text = SUITE + "def test_new(): assert 0\ndef test_never_reached(): pass\n"
    run = runner.run(text, listed(runner, entry()), "-x")
    assert run.code == 1
    assert [name for name, _, _ in run.told] == ["test_known[7]", "test_known[8]", "test_passes", "test_new"]


def test_excused_subtests_excuse_their_test(environment, runner_of):
    runner = runner_of(environment("newest"))
    text = "def test_known(subtests):\n    with subtests.test(): raise ValueError('bad size 7')\n"
    run = runner.run(text, listed(runner, entry()))
    assert run.code == 0, run.output
    assert run.attempts[0]["quarantined"] is True


def test_an_expired_entry_is_named_and_not_applied(runner):
    run = runner.run(SUITE, listed(runner, entry(expires="2020-01-31")))
    assert run.code == 1
    assert "quarantine expired on 2020-01-31, no longer applied: test_it.py::test_known* (allocator race)" in run.output


def test_what_expired_for_other_jobs_is_their_news(tmp_path):
    environ = {"BUILDKITE_STEP_KEY": "kv", "BUILDKITE_AGENT_META_DATA_QUEUE": "l4"}
    assert read(tmp_path, environ, step="other", expires="2020-01-31").notes == []
    assert read(tmp_path, environ, step="kv", expires="2020-01-31", reason="").notes == [
        "expired on 2020-01-31, no longer applied: test_it.py::test_known*"
    ]


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (None, "No such file"),
        ("{", "Expecting property name"),
        ("[" * 100_000, "recursion"),
        ('{"schema": "x"}', "not a flake-quarantine/1 file"),
    ],
    ids=["absent", "damaged", "nested without end", "another format"],
)
def test_a_file_that_cannot_be_used_is_said_and_excuses_nothing(file, why, runner):
    runner.write({"known.json": file} if file is not None else {})
    run = runner.run(SUITE, "--gpu-guard-quarantine=known.json")
    assert run.code == 1
    assert "quarantine is not applied: " in run.output
    assert why in run.output
    assert "INTERNALERROR" not in run.output


@pytest.mark.parametrize(
    "wrong",
    [{"expires": "soon"}, {"expires": "2999-13-01"}, {"expires": None}, {"test": ""}, {"fingerprints": "abc"}],
    ids=["no date", "no day of any year", "no expiry", "no test", "no list"],
)
def test_an_entry_that_could_excuse_too_much_is_refused(wrong, tmp_path):
    (tmp_path / "known.json").write_text(
        json.dumps({"schema": "flake-quarantine/1", "entries": [entry(), entry(**wrong)]})
    )
    with pytest.raises(QuarantineError, match="entry 1 needs"):
        read_quarantine(tmp_path / "known.json", {}, date(2026, 11, 30))


def read(tmp_path, environ: dict[str, str], **more: object) -> Quarantine:
    (tmp_path / "known.json").write_text(json.dumps({"schema": "flake-quarantine/1", "entries": [entry(**more)]}))
    return read_quarantine(tmp_path / "known.json", environ, date(2026, 11, 30))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_each_case_of_the_shared_table_is_covered_or_not(case, tmp_path):
    environ = {"BUILDKITE_STEP_KEY": "kv", "BUILDKITE_AGENT_META_DATA_QUEUE": "l4"}
    covered = read(tmp_path, environ, **case["entry"]).covers(case["nodeid"], case["fingerprint"])
    assert covered is case["covered"]


def test_no_case_stands_in_the_table_twice():
    assert len({case["case"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    ("pattern", "nodeid", "covered"),
    [
        ("v1/x.py::test_a[m-1]", "tests/v1/x.py::test_a[m-1]", True),
        ("v1.x::test_a[m-1]", "v1/x.py::test_a[m-1]", True),
        ("tests.v1.x.TestA::test_b", "tests/v1/x.py::TestA::test_b", True),
        ("v1.x::test_a[*]", "v1/x.py::test_a[google/gemma::3]", True),
        ("v1.x::test_a[m-?]", "v1/x.py::test_a[m-1]", True),
        ("v1.x::test_a[m-?]", "v1/x.py::test_a[m-10]", False),
        ("v1.x::test_a[12]", "v1/x.py::test_a1", False),
        ("v1/*::test_a*", "v1/deep/x.py::test_a[1]", True),
        ("*", "v1/x.py::test_a", True),
        ("v1.x::test_a", "v1/x.py::test_ab", False),
        ("v1.x::test_a", "v1_x.py::test_a", False),
    ],
)
def test_patterns_know_two_signs_and_one_spelling(pattern, nodeid, covered, tmp_path):
    assert read(tmp_path, {}, test=pattern).covers(nodeid, KNOWN) is covered


def test_no_fingerprint_matches_none(tmp_path):
    assert not read(tmp_path, {}, fingerprints=[]).covers("test_it.py::test_known", KNOWN)
    assert not read(tmp_path, {}, fingerprints=[""]).covers("test_it.py::test_known", "")


@pytest.mark.parametrize(
    ("environ", "covered"),
    [
        ({"BUILDKITE_STEP_KEY": "kv", "BUILDKITE_AGENT_META_DATA_QUEUE": "l4"}, True),
        ({"BUILDKITE_LABEL": ":nvidia: kv %N", "BUILDKITE_AGENT_META_DATA_QUEUE": "l4"}, True),
        (
            {
                "BUILDKITE_LABEL": "kv 2",
                "BUILDKITE_PARALLEL_JOB_COUNT": "4",
                "BUILDKITE_AGENT_META_DATA_QUEUE": "l4",
            },
            True,
        ),
        ({"BUILDKITE_LABEL": "kv 2", "BUILDKITE_AGENT_META_DATA_QUEUE": "l4"}, False),
        ({"BUILDKITE_STEP_KEY": "kv", "BUILDKITE_AGENT_META_DATA_QUEUE": "h100"}, False),
        ({"BUILDKITE_STEP_KEY": "other", "BUILDKITE_AGENT_META_DATA_QUEUE": "l4"}, False),
        ({}, False),
    ],
    ids=[
        "its step and queue",
        "its step by label",
        "a shard of it",
        "a step of a like name",
        "another queue",
        "another step",
        "an unknown step",
    ],
)
def test_an_entry_holds_for_its_step_and_queue(environ, covered, tmp_path):
    quarantine = read(tmp_path, environ, step="kv", queue="l4")
    assert quarantine.covers("test_it.py::test_known", KNOWN) is covered
    assert quarantine.notes == (
        [] if environ else ["not applied: 1 entry for a step or queue, and this job does not say its own"]
    )
