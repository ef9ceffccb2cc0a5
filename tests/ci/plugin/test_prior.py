"""The first hook where the disk does not take what it hands over: the job loses its settings, never its life."""

from __future__ import annotations

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
