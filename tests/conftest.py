"""What every test may use: the corpus where it is, the command, and the rule about skips."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# A loaded machine is slow, not wrong.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"

# No test asks a cloud for credentials: what opens an address finds them in its environment or goes without.
os.environ |= {"AWS_EC2_METADATA_DISABLED": "true", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:9"}

# Under xdist each worker is told that it is one; the sessions that tests start are none.
for name in [name for name in os.environ if name.startswith("PYTEST_XDIST_")]:
    del os.environ[name]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Real reports and logs with independently counted answers; they lie beside the checkout, not in it."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real reports and logs is not beside this checkout")
    return CORPUS


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where FLAKE_REPORT_MAY_SKIP is set, a test that skips for another reason fails: CI must bring what it needs."""
    report = yield
    allowed = os.environ.get("FLAKE_REPORT_MAY_SKIP")
    if allowed is not None and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not re.search(allowed, reason):
            report.outcome = "failed"
            report.longrepr = f"skipped where nothing may be absent: {reason}"
    return report
