"""One identity for a test, whether it was named by pytest's node id or by JUnit's classname and name."""

from __future__ import annotations

import re

from flake_report.model.results import TestId

# What XML 1.0 cannot hold. pytest's JUnit writer puts `#x1B` in its place, so a node id must read the same.
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CLASSES = 1000


def from_nodeid(nodeid: str) -> TestId:
    """The test that pytest calls `nodeid`, e.g. `tests/v1/x.py::TestA::t[p]`.

    The rule is the one that pytest's JUnit writer uses: parameters begin at the first bracket and may hold anything,
    `::` and `/` included; a module that could not be collected has a name and no class.
    """
    path, bracket, parameters = nodeid.partition("[")
    names = path.split("::")
    names[0] = names[0].replace("/", ".").removesuffix(".py")
    names[-1] += bracket + parameters
    return from_junit(_xml_safe(".".join(names[:-1])), _xml_safe(names[-1]))


class PytestClasses(dict[str, str]):
    """Classes as JUnit names them to those of `from_junit`: neighbours are of one class, which is then one text.

    Few are kept, however many there are.
    """

    def __missing__(self, classname: str) -> str:
        if len(self) >= _CLASSES:
            self.clear()
        self[classname] = kept = classname.removeprefix("tests.")
        return kept


def from_junit(classname: str, name: str, *, pytest: bool = True, apart: str = "") -> TestId:
    """The test that a JUnit element names.

    With `pytest` a leading `tests` folder is dropped: whether pytest started in `tests` or above makes no other test.
    """
    if pytest:
        if classname:
            classname = classname.removeprefix("tests.")
        else:
            name = name.removeprefix("tests.")
    return TestId(classname, name, apart)


def as_logged(test: TestId) -> TestId:
    """The test as logs and most reports name it, which know of no worker and no host."""
    return test._replace(apart="") if test.apart else test


def file_of_nodeid(nodeid: str) -> str:
    """The path part of a node id, as pytest wrote it."""
    return nodeid.partition("[")[0].partition("::")[0]


def _xml_safe(text: str) -> str:
    return _NOT_XML.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"#x{code:02X}" if code <= 0xFF else f"#x{code:04X}"
