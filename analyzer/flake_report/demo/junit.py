"""JUnit reports in pytest's own form (its `xunit2` family)."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from .pytest_run import Case, PytestRun


def junit(run: PytestRun, host: str) -> bytes:
    """The report that pytest would write of this session."""
    suites = ET.Element("testsuites", name="pytest tests")
    suite = ET.SubElement(
        suites,
        "testsuite",
        name="pytest",
        errors="0",
        failures=str(len(run.failed)),
        skipped=str(sum(bool(case.test.skip) for case in run.cases)),
        tests=str(len(run.cases)),
        time=f"{run.seconds:.3f}",
        timestamp=run.started_at.isoformat(timespec="microseconds"),
        hostname=host,
    )
    for case in run.cases:
        _case(suite, case)
    written: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return written


def _case(suite: ET.Element, case: Case) -> None:
    path, _, name = case.test.nodeid.partition("::")
    classname = path.removesuffix(".py").replace("/", ".")
    element = ET.SubElement(suite, "testcase", classname=classname, name=name, time=f"{case.seconds:.3f}")
    if case.message:
        ET.SubElement(element, "failure", message=case.message).text = case.text
    elif case.test.skip:
        ET.SubElement(element, "skipped", type="pytest.skip", message=case.test.skip)
