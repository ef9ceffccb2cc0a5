"""`flake-report annotate` through the real agent, against a server that checks what Buildkite would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ci.plugin.agent_api import ACCESS

FAILED = (
    '<testsuite><testcase classname="a" name="b">'
    '<failure message="ValueError: &lt;b&gt; \u202e"/></testcase></testsuite>'
)
PASSED = '<testsuite><testcase classname="a" name="b"/></testsuite>'


@pytest.fixture
def annotate(agent, tmp_path: Path):
    """Run it as a job would, on these results."""

    def run(results: str, *options: str, path: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "junit.xml").write_text(results)
        variables = agent.variables("", [], **more)
        if path:
            variables["PATH"] = path
        return subprocess.run(
            [sys.executable, "-m", "flake_report", "annotate", *(["junit.xml"] if results else []), *options],
            cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run


def test_a_passing_retry_takes_the_place_of_the_failing_annotation(agent, annotate) -> None:
    assert annotate(FAILED).returncode == 0
    assert annotate(PASSED).returncode == 0
    failing, passing = agent.api.told.annotations
    assert failing["context"] == passing["context"] == "flake-report"
    assert (failing["style"], passing["style"]) == ("error", "success")
    assert not failing.get("append")
    assert not passing.get("append")
    assert passing["body"].startswith("**No test failed in the end: 1 test in 1 job**")


def test_the_body_reaches_buildkite_as_it_is_printed_without_an_agent(agent, annotate) -> None:
    printed = annotate(FAILED, "--dry-run")
    assert agent.api.told.annotations == []
    annotate(FAILED)
    assert agent.api.told.annotations[0]["body"].strip() == printed.stdout.strip()
    assert "&#92;u202e" in printed.stdout


def test_the_largest_annotation_is_taken(agent, annotate) -> None:
    cases = "".join(
        f'<testcase classname="c{at}" name="{"&lt;`_é" * 400}">'
        f'<failure message="ValueError: {"é&lt;" * 2000}"/></testcase>'
        for at in range(500)
    )
    done = annotate(f"<testsuite>{cases}</testsuite>")
    assert (done.returncode, done.stderr) == (0, "")
    assert "- … 450 more" in agent.api.told.annotations[0]["body"]


def test_an_image_is_uploaded_before_it_is_shown_and_one_that_is_not_there_is_left_out(
    agent, annotate, tmp_path
) -> None:
    (tmp_path / "chart.png").write_bytes(b"\x89PNG")
    done = annotate(PASSED, "--artifact", "chart.png", "--artifact", "none.png")
    told = agent.api.told
    assert done.returncode == 0
    assert told.artifacts == {"chart.png": b"\x89PNG"}
    assert "artifact://chart.png" in told.annotations[0]["body"]
    assert "none.png" not in told.annotations[0]["body"]
    assert "none.png: there is no such file; it is not shown" in done.stderr


def test_a_server_that_refuses_is_a_warning_and_the_text_is_in_the_log(annotate) -> None:
    done = annotate(FAILED, BUILDKITE_AGENT_ACCESS_TOKEN=ACCESS[::-1])
    assert done.returncode == 0
    assert "flake-report: buildkite-agent annotate failed" in done.stderr
    assert "**1 failure of 1 test in 1 job: 1 unclear**" in done.stdout


def test_without_an_agent_it_prints(annotate, tmp_path) -> None:
    done = annotate(FAILED, path=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("**1 failure of 1 test in 1 job: 1 unclear**")


def test_failing_on_request_annotates_all_the_same(agent, annotate) -> None:
    assert annotate(FAILED, "--fail-on", "unclear").returncode == 1
    assert len(agent.api.told.annotations) == 1


def test_the_context_may_be_anothers(agent, annotate) -> None:
    annotate(FAILED, "--context", "nightly")
    assert agent.api.told.annotations[0]["context"] == "nightly"
