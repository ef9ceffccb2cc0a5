"""The session's JUnit file, made from its attempts: each test once, its other attempts inside, no failure's text lost.

Other attempts stand as Maven Surefire writes them: `flakyFailure` and `flakyError` in a test that passed in the end,
`rerunFailure` and `rerunError` in one that did not.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from .parcel import Line

_BAD = {"failed": "failure", "error": "error", "crashed": "error"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(attempts: Path, target: Path) -> None:
    """Make `target` of a finished attempts file; it appears whole or not at all. Raise OSError where it cannot be."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    with attempts.open(encoding="utf-8") as lines, draft.open("w", encoding="utf-8") as out:
        first, *others = [json.loads(line) for line in lines]
        out.writelines(document(first, [line for line in others if "nodeid" in line]))
    draft.replace(target)


def document(session: Line, attempts: Iterable[Line]) -> Iterator[str]:
    """The file, piece by piece."""
    tests: dict[str, list[Line]] = {}
    for line in attempts:
        tests.setdefault(line["nodeid"], []).append(line)
    finals = [runs[-1]["outcome"] for runs in tests.values()]
    counts = {
        "tests": len(finals),
        "failures": finals.count("failed"),
        "errors": finals.count("error") + finals.count("crashed"),
        "skipped": finals.count("skipped") + finals.count("xfailed"),
    }
    seconds = sum(line.get("seconds", 0.0) for runs in tests.values() for line in runs)
    yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="pytest tests">\n'
    suite = {"name": "pytest", **counts, "time": f"{seconds:.3f}"}
    suite.update(timestamp=session["started_at"], hostname=session["host"])
    yield f"<testsuite{_attributes(suite)}>\n"
    yield _properties([("gpu_guard.session", session["session"]), ("gpu_guard.job", session["job"])])
    for runs in tests.values():
        yield from _case(runs)
    yield "</testsuite>\n</testsuites>\n"


def case_names(nodeid: str) -> tuple[str, str]:
    """Class name and name as pytest's own JUnit writes them; parameters begin at the first bracket."""
    path, bracket, parameters = nodeid.partition("[")
    names = path.split("::")
    names[0] = re.sub(r"\.py$", "", names[0].replace("/", "."))
    names[-1] += bracket + parameters
    return ".".join(names[:-1]), names[-1]


def _case(runs: Sequence[Line]) -> Iterator[str]:
    final = runs[-1]
    classname, name = case_names(final["nodeid"])
    where = {"classname": classname, "name": name, "time": f"{final.get('seconds', 0.0):.3f}"}
    yield f"<testcase{_attributes(where)}>\n"
    yield _properties(_facts(runs))
    bad = [line for line in runs if line["outcome"] in _BAD]
    if final["outcome"] in _BAD:
        # Surefire's order: the first failure is the test's, the others are its reruns.
        yield _failure(_BAD[bad[0]["outcome"]], bad[0])
        for line in bad[1:]:
            yield _rerun("rerun", line)
    else:
        if final["outcome"] in ("skipped", "xfailed"):
            kind = "pytest.xfail" if final["outcome"] == "xfailed" else "pytest.skip"
            yield f"<skipped{_attributes({'type': kind, 'message': final.get('message', '')})}/>\n"
        for line in bad:
            yield _rerun("flaky", line)
    yield "</testcase>\n"


def _facts(runs: Sequence[Line]) -> list[tuple[str, str]]:
    """What a JUnit reader cannot see otherwise: leaks, lowered settings, quarantine."""
    found = []
    for line in runs:
        if "leak" in line:
            found.append(("gpu_guard.leak_bytes", str(line["leak"]["bytes"])))
        if "tuned" in line:
            found.append(("gpu_guard.tuned", tuned_words(line["tuned"])))
        if line.get("quarantined"):
            found.append(("gpu_guard.quarantined", line.get("fingerprint", "")))
    return found


def tuned_words(tuned: Line) -> str:
    """A lowered setting in one value."""
    return f"{tuned['from']} -> {tuned['to']} (free {tuned['free']} of {tuned['total']} bytes)"


def _failure(tag: str, line: Line) -> str:
    return f"<{tag}{_attributes(_message(line))}>{_escaped(line.get('traceback', ''))}</{tag}>\n"


def _rerun(prefix: str, line: Line) -> str:
    tag = prefix + _BAD[line["outcome"]].capitalize()
    trace = f"<stackTrace>{_escaped(line.get('traceback', ''))}</stackTrace>"
    return f"<{tag}{_attributes(_message(line))}>{trace}</{tag}>\n"


def _message(line: Line) -> Line:
    return {"message": line.get("message", ""), "type": _type(line.get("message", ""))}


def _type(message: str) -> str:
    named = re.match(r"[A-Za-z_][\w.]*(?=:|$)", message)
    return "AssertionError" if message.startswith("assert ") or named is None else named[0]


def _properties(pairs: Sequence[tuple[str, str]]) -> str:
    inside = "".join(f"<property{_attributes({'name': name, 'value': value})}/>" for name, value in pairs)
    return f"<properties>{inside}</properties>\n" if pairs else ""


def _attributes(values: Line) -> str:
    return "".join(f" {name}={quoteattr(_spelled(str(value)))}" for name, value in values.items())


def _escaped(text: str) -> str:
    return _spelled(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _spelled(text: str) -> str:
    """What XML cannot hold, as pytest's JUnit spells it: `#x1B` for an escape."""
    return _NOT_XML.sub(lambda found: f"#x{ord(found[0]):0{2 if ord(found[0]) <= 0xFF else 4}X}", text)
