"""Sessions on a real GPU, with real torch. Without one these tests skip; GPU_TESTS=require makes that a failure."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ASK = "import torch; assert torch.cuda.is_available(); print(torch.cuda.mem_get_info()[1])"


@pytest.fixture(scope="session")
def gpu_bytes() -> int:
    """The size of the first GPU."""
    asked = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=False)
    if asked.returncode == 0:
        return int(asked.stdout)
    if os.environ.get("GPU_TESTS") == "require":
        pytest.fail(f"no GPU that torch can use: {asked.stderr.strip()[-300:]}")
    pytest.skip("no GPU that torch can use")


@pytest.fixture
def real(runner, gpu_bytes):
    """Runs sessions that see the GPUs which this process sees."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    environment = runner.environment

    def with_gpu(**more: str) -> dict[str, str]:
        env = environment(**more)
        del env["CUDA_VISIBLE_DEVICES"]
        return env if visible is None else {**env, "CUDA_VISIBLE_DEVICES": visible}

    runner.environment = with_gpu
    runner.extra_env["PYTHONPATH"] = os.pathsep.join(
        [runner.environment()["PYTHONPATH"], *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    runner.limit = 400
    assert gpu_bytes > 0
    return runner
