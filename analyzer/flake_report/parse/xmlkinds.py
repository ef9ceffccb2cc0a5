"""Names of what is XML and no JUnit, by its root element."""

from __future__ import annotations

from collections.abc import Mapping

JUNIT_ROOTS = frozenset({"testsuites", "testsuite", "testrun"})
"""`testrun` is Eclipse's."""

_ROOTS = {
    "assemblies": "xunit.net",
    "assembly": "xunit.net",
    "checkstyle": "checkstyle",
    "coverage": "coverage",
    "failsafe-summary": "failsafe-summary",
    "html": "html",
    "result": "jenkins",
    "Result": "cts",
    "robot": "robot",
    "rss": "rss",
    "Site": "ctest",
    "svg": "svg",
    "test-results": "nunit",
    "test-run": "nunit",
    "test-suite": "allure",
    "TestRun": "trx",
    "testng-results": "testng",
    "unitTest": "sonar",
    "testExecutions": "sonar",
}


def kind_of(root: str, attributes: Mapping[str, str]) -> str:
    """What a document with this root seems to be; `unknown` where it is none that is known here."""
    name = root.rpartition(":")[2]
    if name in JUNIT_ROOTS:
        return "junit"
    if name == "Result" and "suite_name" not in attributes:
        return "unknown"
    return _ROOTS.get(name, "unknown")
