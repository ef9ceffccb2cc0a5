"""Owners of tests, by settings and by CODEOWNERS."""

from __future__ import annotations

import pytest

from flake_report.model.rate import Fleet, History, Pool, Variant
from flake_report.model.results import TestId
from flake_report.rate.codeowners import parse_codeowners
from flake_report.rate.owners import Ownership, owned, owners, paths
from flake_report.rate.rates import flake_rates


def history(classname: str, name: str = "t", file: str = "") -> History:
    return History(Variant(TestId(classname, name), "unit", "q", ""), (), (), (), file)


def by_label(ownership: Ownership, *histories: History) -> dict[str, str]:
    return {test.label: owner for test, owner in owners(histories, ownership).items()}


def test_the_last_pattern_of_the_settings_that_matches_decides() -> None:
    settings = Ownership({"v1": "@v1", "v1.kv*": "@kv", "tests/v1/kv/test_x.py::t": "@me"})
    assert by_label(settings, history("v1.a"), history("v1.kv.b"), history("v1.kv.test_x"), history("other")) == {
        "v1.a::t": "@v1",
        "v1.kv.b::t": "@kv",
        "v1.kv.test_x::t": "@me",
    }


def test_a_pattern_may_also_name_the_file() -> None:
    web = history("suite", file="src/web/a.spec.ts")
    assert by_label(Ownership({"src/web/*": "@web"}), web) == {"suite::t": "@web"}


def test_the_settings_come_before_the_file_and_the_file_knows_the_rest() -> None:
    rules, _ = parse_codeowners("* @all\n/tests/v1/ @v1-team\n", "CODEOWNERS")
    ownership = Ownership({"kv": "@kv"}, rules)
    assert by_label(ownership, history("v1.test_a"), history("v1.kv.test_b"), history("test_c")) == {
        "v1.test_a::t": "@v1-team",
        "v1.kv.test_b::t": "@kv",
        "test_c::t": "@all",
    }


def test_a_test_of_several_steps_has_one_owner() -> None:
    twice = [history("v1.a"), History(Variant(TestId("v1.a", "t"), "other", "q", ""), (), ())]
    assert by_label(Ownership({"v1": "@v1"}), *twice) == {"v1.a::t": "@v1"}


def test_without_rules_nobody_owns_anything() -> None:
    assert by_label(Ownership({}), history("a")) == {}


def test_each_rate_has_the_owner_of_its_test_and_no_other_change() -> None:
    one, other = history("v1.a"), history("b")
    rates = flake_rates(Fleet((), (Pool("unit", "q", ()),), (one, other)), 0.005)
    found = owned(rates, {one.variant.test: "@v1", TestId("gone", "t"): "@gone"})
    assert {rate.variant.test.label: rate.owner for rate in found} == {"v1.a::t": "@v1", "b::t": ""}
    assert tuple(rate._replace(owner="") for rate in found) == owned(rates, {}) == rates


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
