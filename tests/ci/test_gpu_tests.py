"""The tests for a real GPU, where there is none: they skip with the reason, and fail where a GPU was promised."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def ran(**more: str) -> subprocess.CompletedProcess[str]:
    """A session of its own that sees no GPU, whatever this machine has."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("GPU_", "PYTEST_", "COV_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "ci/gpu_tests"]
    hidden = {**own, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", **more}
    return subprocess.run(command, cwd=ROOT, env=hidden, capture_output=True, text=True, check=False)


def test_without_a_gpu_they_skip_and_say_why() -> None:
    done = ran()
    assert done.returncode == 0
    assert "no GPU is visible here" in done.stdout
    assert " skipped in " in done.stdout
    assert " passed" not in done.stdout


def test_without_the_gpu_that_was_promised_they_fail() -> None:
    done = ran(GPU_TESTS="require")
    assert done.returncode == 1
    assert "and GPU_TESTS=require" in done.stdout
    assert " skipped" not in done.stdout.splitlines()[-1]
    assert " passed" not in done.stdout.splitlines()[-1]


def test_the_tiny_model_is_one_of_windows_but_for_every_sixth_layer(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    monkeypatch.syspath_prepend(str(ROOT / "ci" / "gpu_tests"))
    from rig.models import tiny_model

    model = tiny_model(tmp_path / "tiny")
    config = json.loads(Path(model.name, "config.json").read_text())
    kinds = config["layer_types"]
    assert (len(kinds), kinds.count("full_attention")) == (config["num_hidden_layers"], 4)
    assert kinds[5::6] == ["full_attention"] * 4
    assert config["sliding_window"] == model.window == 512
    vocabulary = json.loads(Path(model.name, "tokenizer.json").read_text())["model"]["vocab"]
    assert sorted(vocabulary.values()) == list(range(config["vocab_size"]))
