"""What the GPU tests share. Without a GPU they skip and say why; GPU_TESTS=require makes that a failure."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from gpu_guard.budget import GIB, Card
from rig.cards import cards, describe
from rig.holder import Holder
from rig.models import Model, real_model, tiny_model
from rig.sessions import Sessions

_SETTLE = 30.0  # seconds for a killed process's memory to come back: under one was seen


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--hma-model",
        metavar="NAME",
        help="a model with sliding-window layers, such as google/gemma-3-1b-it; default: a tiny one without weights",
    )


def missing(reason: str) -> NoReturn:
    """Skip; or fail where the step promised a GPU, so that it cannot pass on a CPU."""
    if os.environ.get("GPU_TESTS") == "require":
        pytest.fail(f"{reason}, and GPU_TESTS=require")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def all_cards() -> list[Card]:
    """Every visible GPU, as it was when the tests began."""
    found, source = describe()
    if not found:
        missing(f"no GPU is visible here ({source})")
    return found


@pytest.fixture
def card(all_cards: list[Card]) -> Iterator[Card]:
    """The first GPU, as full as it is now; what a test takes of it must come back."""
    before = cards()[0]
    assert before.total == all_cards[0].total
    yield before
    deadline = time.monotonic() + _SETTLE
    while (free := cards()[0].free) < before.free - 2 * GIB:
        assert time.monotonic() < deadline, f"{(before.free - free) / GIB:.2f} GiB did not come back"
        time.sleep(0.2)


@pytest.fixture(scope="session")
def torch_here(all_cards: list[Card]) -> None:  # noqa: ARG001 - without a GPU there is no need to look
    """For tests that hold memory themselves."""
    _need("torch")


@pytest.fixture(scope="session")
def vllm(torch_here: None) -> None:  # noqa: ARG001 - it runs on torch
    """For tests that start engines."""
    _need("vllm", "nixl")


def _need(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            missing(f"{package} is not installed")


@pytest.fixture
def model(request: pytest.FixtureRequest, tmp_path: Path, vllm: None) -> Model:  # noqa: ARG001 - its writer needs vllm's
    """The model of `--hma-model`, else the tiny one."""
    name = request.config.getoption("--hma-model")
    return real_model(name) if name else tiny_model(tmp_path / "tiny-gemma3")


@pytest.fixture
def sessions(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sessions]:
    """Runs pytest sessions of their own under the recorder; GPU_TESTS_KEEP=DIR keeps what they wrote."""
    keep = os.environ.get("GPU_TESTS_KEEP")
    found = Sessions(Path(keep) if keep else tmp_path / "jobs", request.config.getoption("--hma-model"))
    yield found
    found.end()


@pytest.fixture
def holder(torch_here: None) -> Iterator[Holder]:  # noqa: ARG001 - it runs on torch
    """Another process that holds GPU memory when it is told to."""
    with Holder() as found:
        yield found
