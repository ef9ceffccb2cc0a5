"""Calls of buildkite-agent that go wrong: one sentence each, soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_guard.hooks import courier


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a program in the agent's place."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def put(text: str) -> None:
        (tmp_path / "buildkite-agent").write_text("#!/bin/sh\n" + text)
        (tmp_path / "buildkite-agent").chmod(0o755)

    return put


def test_without_an_agent_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not courier.present()
    assert courier.set_meta_data("a", "b") == "buildkite-agent meta-data set: No such file or directory"


def test_what_works_says_nothing_and_gets_its_text_on_standard_input(program, tmp_path: Path) -> None:
    program(f'cat > {tmp_path}/in; echo "$*" > {tmp_path}/words\n')
    assert courier.present()
    assert courier.set_meta_data("key", "a\nb") == ""
    assert (tmp_path / "in").read_text() == "a\nb"
    assert (tmp_path / "words").read_text() == "meta-data set key\n"


def test_an_agent_that_hangs_is_left_alone_in_time(program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courier, "CALL_LIMIT", 0.2)
    program("exec sleep 30\n")
    assert courier.set_meta_data("a", "b") == "buildkite-agent meta-data set took longer than 0 s"


def test_an_agent_that_fails_without_a_word_is_told_by_its_exit(program) -> None:
    program("exit 4\n")
    assert courier.set_meta_data("a", "b") == "buildkite-agent meta-data set failed: exit 4"


def test_an_agent_that_knows_no_notes_of_jobs_is_asked_for_one_on_the_build(program, tmp_path: Path) -> None:
    program(f"""echo "$*" >> {tmp_path}/words
case "$*" in *--scope*) echo "Incorrect Usage: flag provided but not defined: -scope"; echo usage; exit 1;; esac
""")
    assert courier.annotate("body", "j1") == ""
    assert (tmp_path / "words").read_text().splitlines() == [
        "annotate --style warning --context gpu-guard --scope job",
        "annotate --style warning --context gpu-guard-j1",
    ]
