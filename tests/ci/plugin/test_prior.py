"""The first hook where the disk does not take what it hands over: the job loses its settings, never its life."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from gpu_guard.hooks import prior


@pytest.fixture
def step(driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a step on a machine without a GPU that does not mind."""
    driver.none()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return {
        "PATH": "/usr/bin:/bin",
        "BUILDKITE_BUILD_CHECKOUT_PATH": str(tmp_path),
        "BUILDKITE_PLUGIN_CONFIGURATION": '{"on-no-gpu": "pass", "utilization": 0.5}',
    }


def test_settings_that_cannot_be_handed_over_are_said(step, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert prior.run(step, str(tmp_path / "no" / "folder")) == 0
    assert "gpu-guard: the settings do not reach the command: " in capsys.readouterr().out


def test_a_checkout_that_takes_no_recorder_is_said(step, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "exports"
    assert prior.run({**step, "BUILDKITE_BUILD_CHECKOUT_PATH": "/proc/nowhere"}, str(target)) == 0
    assert "gpu-guard: the tests run unrecorded: " in capsys.readouterr().out
    assert "export GPU_GUARD_SET_UTILIZATION=0.5\n" in target.read_text()
    assert "GPU_GUARD_RECORD" not in target.read_text()


def test_a_step_with_a_folder_of_its_own_for_recordings_keeps_it(step, tmp_path: Path) -> None:
    target = tmp_path / "exports"
    assert prior.run({**step, "GPU_GUARD_RECORD": "mine"}, str(target)) == 0
    assert "export GPU_GUARD_RECORD" not in target.read_text()
    assert not (tmp_path / ".gpu-guard").exists()
    assert "GPU_GUARD_RECORD" in target.read_text().partition("GPU_GUARD_ENV=")[2]


def test_settings_reach_a_container_of_a_step_that_records_nothing(
    step, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "job-env"
    listed.write_text("")
    plugins = [{"docker#v5.2.0": {"image": "x", "propagate-environment": True}}]
    more = {
        "BUILDKITE_ENV_FILE": str(listed), "BUILDKITE_PLUGINS": json.dumps(plugins),
        "BUILDKITE_PLUGIN_CONFIGURATION": '{"on-no-gpu": "pass", "utilization": 0.5, "record": false}',
    }  # fmt: skip
    assert prior.run({**step, **more}, str(tmp_path / "exports")) == 0
    assert listed.read_text() == 'GPU_GUARD_SET_UTILIZATION="0.5"\n'
    assert "does not hand" not in capsys.readouterr().out


def test_the_words_for_the_shell_hold_where_the_container_has_a_blank_in_its_path(
    step, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugins = [{"docker#v5.2.0": {"image": "x", "workdir": "/my work"}}]
    assert prior.run({**step, "BUILDKITE_PLUGINS": json.dumps(plugins)}, str(tmp_path / "exports")) == 0
    shell = "'/my work/.gpu-guard/env'"
    assert f"begin the command with `[ ! -f {shell} ] || . {shell};`" in capsys.readouterr().out


def test_a_list_of_variables_that_takes_no_more_is_said(
    step, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugins = [{"docker#v5.2.0": {"image": "x", "propagate-environment": True}}]
    more = {"BUILDKITE_ENV_FILE": str(tmp_path / "no" / "file"), "BUILDKITE_PLUGINS": json.dumps(plugins)}
    assert prior.run({**step, **more}, str(tmp_path / "exports")) == 0
    said = capsys.readouterr().out
    assert "the agent's list of the job's variables takes no more: " in said
    assert "does not hand GPU_GUARD_RECORD, GPU_GUARD_SET_UTILIZATION, PYTHONPATH to the container" in said
