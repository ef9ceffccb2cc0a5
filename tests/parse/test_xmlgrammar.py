"""The expressions that read markup: right on every Python that is promised, and never slow or large."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from flake_report.parse.xmlgrammar import CDATA, DOCTYPE, TOKEN

# Written to a process of its own: it sees each expression as it is parsed, also those put together from parts.
RECORD = """
import importlib, json, pkgutil, sys
import re._parser as parser
import re._compiler as compiler
found, parse = [], parser.parse
def recorded(pattern, *rest):
    tree = parse(pattern, *rest)
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in ("re", "functools"):
        frame = frame.f_back
    where = frame.f_globals.get("__name__", "")
    if where.partition(".")[0] in ("flake_report", "gpu_guard"):
        odd = "POSSESSIVE" in repr(tree) or "ATOMIC" in repr(tree)
        found.append((where, pattern if isinstance(pattern, str) else repr(pattern), odd))
    return tree
parser.parse = compiler._parser.parse = recorded
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as missing:  # a part of the product whose extra is not installed here
                assert missing.name.partition(".")[0] not in sys.argv, missing
if "flake_report" in sys.argv:
    from flake_report.parse.junit_simple import patterns
    patterns(("classname", "name", "time"))
print(json.dumps(found))
"""


def recorded(source: str, *arguments: str) -> list[tuple[str, str, bool]]:
    path = [*sys.path]
    code = f"import sys; sys.path[:] = {path!r}\n{source}"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return [(where, pattern, odd) for where, pattern, odd in json.loads(done.stdout)]


def test_no_expression_has_a_possessive_repeat_or_an_atomic_group() -> None:
    """Early Pythons 3.11 end a possessive repeat of a group in the middle of a turn: a failure was taken for a pass."""
    seen = recorded(RECORD, "flake_report", "gpu_guard")
    assert len({where for where, _pattern, _odd in seen}) > 20
    assert any("testcase" in pattern and "{1,128}" in pattern for _where, pattern, _odd in seen)
    assert [(where, pattern) for where, pattern, odd in seen if odd] == []


@pytest.mark.parametrize("pattern", [r"(?:a\\s*b)*+", r"a++", r"(?>ab)", r"(?:a|b){1,3}+"])
def test_the_search_for_them_finds_them(pattern: str) -> None:
    source = RECORD.replace("print(", f"__name__ = 'flake_report.x'; import re; re.compile({pattern!r}); print(")
    assert [odd for where, _pattern, odd in recorded(source) if where == "flake_report.x"] == [True]


def test_a_run_ends_before_the_case_that_has_a_child() -> None:
    from flake_report.parse.junit_simple import patterns

    found = patterns(("name",))
    assert found is not None
    run = found.run.match('<testcase name="a"/> <testcase name="b"><failure/></testcase>')
    assert run is not None
    assert run[0] == '<testcase name="a"/>'


@pytest.mark.parametrize("brackets", [0, 1, 499, 500, 501, 5000])
def test_literal_text_is_one_token_while_its_brackets_are_few(brackets: int) -> None:
    document = f"<failure><![CDATA[a{']a' * brackets}]]></failure>"
    token = TOKEN.match(document)
    assert token is not None
    assert (token[5] is not None) is (brackets <= 500)
    assert token.end() == (len(document) if brackets <= 500 else len("<failure>"))


def test_literal_text_ends_at_the_first_end_there_is() -> None:
    token = TOKEN.match("<a><![CDATA[x]]]></a><a><![CDATA[y]]></a>")
    assert token is not None
    assert token[5] == "x]"
    assert "(?" in CDATA


def test_a_document_type_ends_after_its_subset() -> None:
    found = DOCTYPE.match('<!DOCTYPE a [<!ENTITY b "]x>">] ><a>')
    assert found is not None
    assert found[0].endswith("] >")
