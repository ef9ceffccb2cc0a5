"""The first line of an attempts file: which session this is, and where it runs."""

from __future__ import annotations

import os
import platform
import re
import shlex
import socket
from collections.abc import Mapping, Sequence

import pytest

from gpu_guard.memory import Device

from .parcel import Line
from .stamp import rfc3339

SCHEMA = "gpu-guard-attempts/1"

ENVIRONMENT = (
    "AMD_SERIALIZE_KERNEL",
    "BUILDKITE_AGENT_META_DATA_QUEUE",
    "BUILDKITE_AGENT_NAME",
    "BUILDKITE_BRANCH",
    "BUILDKITE_BUILD_NUMBER",
    "BUILDKITE_COMMIT",
    "BUILDKITE_LABEL",
    "BUILDKITE_ORGANIZATION_SLUG",
    "BUILDKITE_PARALLEL_JOB",
    "BUILDKITE_PARALLEL_JOB_COUNT",
    "BUILDKITE_PIPELINE_SLUG",
    "BUILDKITE_RETRY_COUNT",
    "BUILDKITE_STEP_KEY",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_VISIBLE_DEVICES",
    "GPU_GUARD_PROFILE",
    "GPU_GUARD_SET_MAX_NUM_BATCHED_TOKENS",
    "GPU_GUARD_SET_MAX_NUM_SEQS",
    "GPU_GUARD_SET_UTILIZATION",
    "HIP_VISIBLE_DEVICES",
    "LOCAL_RANK",
    "NVIDIA_VISIBLE_DEVICES",
    "PYTEST_ADDOPTS",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "RANK",
    "ROCR_VISIBLE_DEVICES",
    "VLLM_ATTENTION_BACKEND",
    "VLLM_ENABLE_V1_MULTIPROCESSING",
    "VLLM_TEST_CLEAN_GPU_MEMORY",
    "VLLM_USE_V1",
    "VLLM_WORKER_MULTIPROC_METHOD",
    "WORLD_SIZE",
)
"""What may say why the same test behaved otherwise; never a name that could hold a secret."""


def header(
    *,
    session: str,
    started_at: float,
    arguments: Sequence[str],
    devices: Sequence[Device],
    environ: Mapping[str, str],
) -> Line:
    """The line itself. `arguments` are pytest's own."""
    return {
        "schema": SCHEMA,
        "job": environ.get("BUILDKITE_JOB_ID", ""),
        "session": session,
        "started_at": rfc3339(started_at),
        "command": shlex.join(["pytest", *arguments]),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "python": platform.python_version(),
        "pytest": pytest.__version__,
        "devices": [
            {"index": device.index, "uuid": device.uuid, "name": device.name, "total_bytes": device.total_bytes}
            for device in devices
        ],
        "env": {name: environ[name] for name in ENVIRONMENT if name in environ},
    }


def file_stem(session: str, environ: Mapping[str, str]) -> str:
    """`<job id>-<session>`, safe in a file name; `local` stands for the job outside CI."""
    job = re.sub(r"[^A-Za-z0-9._-]", "_", environ.get("BUILDKITE_JOB_ID", "")) or "local"
    return f"{job}-{session}"
