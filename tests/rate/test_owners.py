"""Owners of tests, by settings and by CODEOWNERS."""

from __future__ import annotations

import pytest

from flake_report.model.rate import History, Variant
from flake_report.model.results import TestId
from flake_report.rate.codeowners import parse_codeowners
from flake_report.rate.owners import Ownership, owners, paths


def history(classname: str, name: str = "t", file: str = "") -> History:
    return History(Variant(TestId(classname, name), "unit", "q", ""), (), (), (), file)


def owned(ownership: Ownership, *histories: History) -> dict[str, str]:
    return {test.label: owner for test, owner in owners(histories, ownership).items()}


def test_the_last_pattern_of_the_settings_that_matches_decides() -> None:
    settings = Ownership({"v1": "@v1", "v1.kv*": "@kv", "tests/v1/kv/test_x.py::t": "@me"})
    assert owned(settings, history("v1.a"), history("v1.kv.b"), history("v1.kv.test_x"), history("other")) == {
        "v1.a::t": "@v1",
        "v1.kv.b::t": "@kv",
        "v1.kv.test_x::t": "@me",
    }


def test_a_pattern_may_also_name_the_file() -> None:
    assert owned(Ownership({"src/web/*": "@web"}), history("suite", file="src/web/a.spec.ts")) == {"suite::t": "@web"}


def test_the_settings_come_before_the_file_and_the_file_knows_the_rest() -> None:
    rules, _ = parse_codeowners("* @all\n/tests/v1/ @v1-team\n", "CODEOWNERS")
    ownership = Ownership({"kv": "@kv"}, rules)
    assert owned(ownership, history("v1.test_a"), history("v1.kv.test_b"), history("test_c")) == {
        "v1.test_a::t": "@v1-team",
        "v1.kv.test_b::t": "@kv",
        "test_c::t": "@all",
    }


def test_a_test_of_several_steps_has_one_owner() -> None:
    twice = [history("v1.a"), History(Variant(TestId("v1.a", "t"), "other", "q", ""), (), ())]
    assert owned(Ownership({"v1": "@v1"}), *twice) == {"v1.a::t": "@v1"}


def test_without_rules_nobody_owns_anything() -> None:
    assert owned(Ownership({}), history("a")) == {}


PATHS = {
    "as the runner saw it, and below tests": (TestId("v1.a", "t"), "v1/a.py", ["v1/a.py", "tests/v1/a.py"]),
    "from the root": (TestId("v1.test_x", "t"), "./tests/v1/test_x.py", ["tests/v1/test_x.py"]),
    "by the module, without the class": (TestId("v1.test_x.TestA", "t"), "", ["v1/test_x.py", "tests/v1/test_x.py"]),
    "backslashes": (TestId("a", "t"), "tests\\a.py", ["tests/a.py"]),
    "no file and no module": (TestId("Suite", "t"), "", []),
    "nothing": (TestId("", "t"), "", []),
}  # fmt: skip


@pytest.mark.parametrize(("test", "file", "expected"), PATHS.values(), ids=PATHS.keys())
def test_the_paths_that_a_tests_file_may_have(test, file, expected) -> None:
    assert list(paths(test, file)) == expected
