"""What the user asked for: command-line options first, then the environment, which reaches tests in a container."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

RECORD = "GPU_GUARD_RECORD"
CLEAN = "GPU_GUARD_CLEAN"
TUNE = "GPU_GUARD_TUNE"
QUARANTINE = "GPU_GUARD_QUARANTINE"

_ON = frozenset({"1", "true", "yes", "on"})
_OFF = frozenset({"", "0", "false", "no", "off"})
_NEEDING = ("--gpu-guard-clean", "--gpu-guard-tune", "--gpu-guard-quarantine")
_DEFAULT_FOLDER = "gpu-guard"


@dataclass(frozen=True)
class Options:
    """`folder` is where attempts and JUnit go; None leaves the recorder off, and everything else with it."""

    folder: Path | None = None
    clean: bool = False
    tune: bool = False
    quarantine: Path | None = None


def add_options(parser: pytest.Parser) -> None:
    """Tell pytest of the options."""
    group = parser.getgroup("gpu-guard", "record every attempt of every test, and the GPU memory around it")
    group.addoption(
        "--gpu-guard-record", metavar="DIR", help=f"write attempts and JUnit files into DIR (or set {RECORD}=DIR)"
    )
    group.addoption(
        "--gpu-guard-clean",
        action="store_true",
        help=f"after each test collect garbage and empty torch's cache; live engines stay (or set {CLEAN}=1)",
    )
    group.addoption(
        "--gpu-guard-tune",
        action="store_true",
        help=f"lower gpu_memory_utilization of vLLM engines to what fits, never raise it (or set {TUNE}=1)",
    )
    group.addoption(
        "--gpu-guard-quarantine",
        metavar="FILE",
        help=f"known failures listed in FILE do not fail the session (or set {QUARANTINE}=FILE)",
    )


def read_options(config: pytest.Config, environ: Mapping[str, str]) -> Options:
    """The options in force. Relative paths count from where pytest was started.

    Raise UsageError where an option is given that nothing would come of.
    """
    start = Path(config.invocation_params.dir)
    folder = config.getoption("--gpu-guard-record") or environ.get(RECORD, "")
    if folder.strip().lower() in _OFF:
        idle = [name for name in _NEEDING if config.getoption(name)]
        if idle and RECORD not in environ:
            raise pytest.UsageError(f"{idle[0]} needs a folder to record to: --gpu-guard-record=DIR, or {RECORD}=DIR")
        return Options()
    if folder.strip().lower() in _ON:
        folder = _DEFAULT_FOLDER
    quarantine = config.getoption("--gpu-guard-quarantine") or environ.get(QUARANTINE, "")
    return Options(
        folder=start / folder,
        clean=config.getoption("--gpu-guard-clean") or environ.get(CLEAN, "").strip().lower() not in _OFF,
        tune=config.getoption("--gpu-guard-tune") or environ.get(TUNE, "").strip().lower() not in _OFF,
        quarantine=start / quarantine if quarantine.strip().lower() not in _OFF else None,
    )
