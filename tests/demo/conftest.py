"""The simulated history, written once for all tests of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake_report import demo
from flake_report.collect.sources import open_source
from flake_report.model.evidence import Evidence


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "archive"
    demo.write_history(folder)
    return folder


@pytest.fixture(scope="session")
def evidence(root: Path) -> list[Evidence]:
    """Every job; a warning while reading would be a mistake in the archive."""
    warnings: list[str] = []
    read = list(open_source(str(root), warnings.append))
    assert warnings == []
    return read
