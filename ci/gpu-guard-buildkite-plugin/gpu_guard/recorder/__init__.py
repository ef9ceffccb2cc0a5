"""A pytest plugin that records every attempt of every test, and the GPU memory around it.

It does nothing until GPU_GUARD_RECORD or `--gpu-guard-record` names a folder. Where gpu-guard is installed pytest
finds it; where it is only on PYTHONPATH, `-p gpu_guard.recorder` or PYTEST_PLUGINS=gpu_guard.recorder loads it.
"""

from __future__ import annotations

import os

import pytest

from .options import add_options, read_options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Pytest asks for options."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Pytest is set up: begin, if this session is to be recorded."""
    worker = getattr(config, "workerinput", None)
    recorded = "gpu_guard" in worker if worker is not None else read_options(config, os.environ).folder is not None
    if recorded:
        from . import plugin  # noqa: PLC0415  # a session that is not recorded shall not pay for it

        plugin.begin(config)
