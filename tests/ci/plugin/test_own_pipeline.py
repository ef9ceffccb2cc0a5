"""The project's own pipeline under the real agent: it can be uploaded, and each step that needs no GPU runs.

Making an environment and the suite itself are stood in for: they would install all anew, and run this test in itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ci.plugin.conftest import AGENT, ROOT, clean_environment
from flake_report import demo
from flake_report.classify.fingerprint import fingerprint as prints

STEPS = {step["key"]: step for step in yaml.safe_load((ROOT / "pipeline.yml").read_text())["steps"]}

FLAKE = "AssertionError: the transfer took longer than 1.0 s"

VENV = f"""#!/bin/sh
# `python3 -m venv .venv`: the programs of the environment that runs this test, but for those that would take minutes.
[ "$1 $2" = "-m venv" ] || exec {sys.executable} "$@"
mkdir -p .venv/bin
for name in ruff flake-report; do ln -sf {Path(sys.executable).parent}/$name .venv/bin/$name; done
printf '#!/bin/sh\\necho "pip $*"\\n' > .venv/bin/pip
printf '#!/bin/sh\\necho "mypy ran"\\n' > .venv/bin/mypy
cat > .venv/bin/pytest <<'PYTEST'
#!/bin/sh
mkdir -p test-results
for option in "$@"; do
  case $option in --junitxml=*)
    echo '<testsuite tests="1"><testcase classname="a" name="b"/></testsuite>' > "${{option#--junitxml=}}";;
  esac
done
PYTEST
chmod +x .venv/bin/pip .venv/bin/mypy .venv/bin/pytest
"""


def run(agent, key: str, **more: str):
    """One step of the pipeline, in a clone of this repository, as the agent gets it once the upload filled it in."""
    step = STEPS[key]
    paths = ";".join(step.get("artifact_paths", []))
    agent.program("python3", VENV)
    return agent.run(
        "\n".join(step["commands"]).replace("$$", "$"), [],
        BUILDKITE_ARTIFACT_PATHS=paths, **ours(agent), **step.get("env", {}), **more,
    )  # fmt: skip


def ours(agent) -> dict[str, str]:
    """This repository as it is committed, on a branch whose name is known."""
    clone = agent.folder / "ours"
    for command in (["git", "clone", "-q", ROOT, clone], ["git", "-C", clone, "checkout", "-q", "-B", "main"]):
        if subprocess.run(command, env=clean_environment(), capture_output=True, check=False).returncode:
            pytest.skip("not a git checkout: the agent has nothing to clone")
    return {"BUILDKITE_REPO": str(clone), "BUILDKITE_BRANCH": "main"}


def test_the_pipeline_can_be_uploaded(agent) -> None:
    done = subprocess.run(
        [AGENT, "pipeline", "upload", "--dry-run", "--format", "json", "pipeline.yml"],
        cwd=ROOT, env=agent.variables("", []), capture_output=True, text=True, check=True,
    )  # fmt: skip
    uploaded = {step["key"]: step for step in json.loads(done.stdout)["steps"]}
    assert list(uploaded) == list(STEPS)
    assert uploaded["gpu"]["plugins"] == [{"./ci/gpu-guard-buildkite-plugin": {"profile": "nixl-hma", "wait": 300}}]
    assert '.venv/bin/flake-report ingest "$FLAKE_REPORT_ARCHIVE"' in str(uploaded["weekly"])


def test_the_lint_step_runs(agent) -> None:
    job = run(agent, "lint")
    assert "pip install --quiet .[test]\n" in job.log
    assert job.code == 0, job.log
    assert "mypy ran\n" in job.log


def test_the_unit_step_runs_and_its_report_is_uploaded(agent) -> None:
    job = run(agent, "unit")
    assert job.code == 0, job.log
    assert list(agent.api.told.artifacts) == ["test-results/junit-0a-job.xml"]


def test_the_weekly_step_makes_its_report_from_an_archive_uploads_it_annotates_and_keeps_the_next_baseline(
    agent, tmp_path
) -> None:
    demo.write_history(tmp_path / "archive")
    kept = tmp_path / "kept"
    places = {"ARCHIVE": tmp_path / "archive", "STORE": tmp_path / "store", "BASELINE": kept}
    job = run(agent, "weekly", **{f"FLAKE_REPORT_{name}": str(place) for name, place in places.items()})
    assert job.code == 0, job.log
    assert "nothing is compared with a baseline" in job.log  # it is the first week
    told = agent.api.told
    assert {"report/index.html", "report/report.json", "report/chart-weeks.png"} <= set(told.artifacts)
    assert all(path.startswith("report/") for path in told.artifacts)
    (note,) = told.annotations
    assert (note["context"], note["style"]) == ("flake-report-weekly", "info")
    assert '<img src="artifact://report/chart-weeks.png"' in note["body"]
    assert '<a href="artifact://report/index.html">' in note["body"]
    assert sorted(path.name for path in kept.iterdir()) == ["flakes.json", "report.json"]


def test_the_annotate_step_tells_known_failures_from_new_ones_by_artifacts_and_last_weeks_export(
    agent, tmp_path
) -> None:
    baseline = tmp_path / "last-week"
    baseline.mkdir()
    way = {"fingerprint": prints(FLAKE).hash, "runs": 7, "flake": True, "last": "build 5"}
    row = {"classname": "a", "name": "flaky", "verdict": "flaky", "reason": "it flakes", "ways": [way]}
    (baseline / "flakes.json").write_text(json.dumps({"schema": "flake-known/1", "builds": 60, "tests": [row]}))
    job_id = "0196a0f3-aaaa-4000-8000-000000000007"
    agent.api.told.artifacts[f"test-results/junit-{job_id}.xml"] = (
        f'<testsuite><testcase classname="a" name="flaky"><failure message="{FLAKE}"/></testcase>'
        '<testcase classname="a" name="other"><failure message="ValueError: no"/></testcase></testsuite>'
    ).encode()
    job = run(agent, "annotate", FLAKE_REPORT_BASELINE=str(baseline))
    assert job.code == 0, job.log
    assert "2 failures of 2 tests in 1 job: 1 new · 1 flake → annotation flake-report\n" in job.log
    (note,) = agent.api.told.annotations
    assert (note["context"], note["style"]) == ("flake-report", "error")
    assert f"[job](#{job_id})" in note["body"]


def test_the_annotate_step_of_a_build_that_left_nothing_says_so_and_passes(agent) -> None:
    job = run(agent, "annotate", FLAKE_REPORT_BASELINE="")
    assert job.code == 0, job.log
    (note,) = agent.api.told.annotations
    assert (note["style"], note["body"].splitlines()[0]) == ("info", "**No test results were found in this build**")


def test_the_gpu_step_runs_guarded_on_an_agent_with_a_gpu(agent) -> None:
    step = STEPS["gpu"]
    agent.program("python3", VENV)
    job = agent.run("\n".join(step["commands"]), step["plugins"], **ours(agent))
    assert job.code == 0, job.log
    assert "0.3 asks 6.60 GiB and 0.52 GiB for its context: it fits" in job.log


def test_the_gpu_step_is_refused_on_an_agent_without_a_gpu(agent) -> None:
    agent.driver.none()
    step = STEPS["gpu"]
    job = agent.run("\n".join(step["commands"]), step["plugins"], **ours(agent))
    assert job.code == 2, job.log
    assert os.linesep + "gpu-guard: no GPU is visible here" in job.log
