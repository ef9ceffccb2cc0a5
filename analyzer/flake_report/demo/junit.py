"""JUnit reports in pytest's own form (its `xunit2` family)."""

from __future__ import annotations

from lxml import etree

from .pytest_run import Case, PytestRun


def junit(run: PytestRun, host: str) -> bytes:
    """The report that pytest would write of this session."""
    suites = etree.Element("testsuites", name="pytest tests")
    suite = etree.SubElement(
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
    return etree.tostring(suites, encoding="utf-8", xml_declaration=True)


def _case(suite: etree._Element, case: Case) -> None:
    path, _, name = case.test.nodeid.partition("::")
    classname = path.removesuffix(".py").replace("/", ".")
    element = etree.SubElement(suite, "testcase", classname=classname, name=name, time=f"{case.seconds:.3f}")
    if case.message:
        etree.SubElement(element, "failure", message=case.message).text = case.text
    elif case.test.skip:
        etree.SubElement(element, "skipped", type="pytest.skip", message=case.test.skip)
