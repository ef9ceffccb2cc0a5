"""Who owns which test: by the settings, else by the repository's CODEOWNERS file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flake_report.model.query import Glob, of_test
from flake_report.model.rate import FlakeRate, History
from flake_report.model.results import TestId

from .codeowners import Rule, owner_of


@dataclass(frozen=True, slots=True)
class Ownership:
    """Patterns for tests with their owner, from the settings, and the rules of a CODEOWNERS file; both may be empty.

    A pattern is matched as the option `--test` is, or against the whole path of the test's file. Of several that match
    the last counts, as in CODEOWNERS. The settings come before the file.
    """

    tests: Mapping[str, str]
    rules: Sequence[Rule] = ()


def owners(histories: Iterable[History], ownership: Ownership) -> dict[TestId, str]:
    """The owner of each test that has one."""
    if not ownership.tests and not ownership.rules:
        return {}
    patterns = [(of_test(pattern), Glob(pattern), owner) for pattern, owner in ownership.tests.items()][::-1]
    found: dict[TestId, str] = {}
    for history in histories:
        test = history.variant.test
        if test in found:
            continue
        owner = next(
            (owner for name, path, owner in patterns if name.matches(test.label) or path.matches(history.file)), ""
        )
        owner = owner or owner_of(tuple(paths(test, history.file)), ownership.rules)
        if owner:
            found[test] = owner
    return found


def owned(rates: Sequence[FlakeRate], owners: Mapping[TestId, str]) -> tuple[FlakeRate, ...]:
    """The rates, each with the owner of its test where there is one."""
    if not owners:
        return tuple(rates)
    return tuple(rate._replace(owner=owners.get(rate.variant.test, "")) for rate in rates)


def paths(test: TestId, file: str) -> Iterator[str]:
    """The paths from the repository's root that a test's file may have, of which one is right.

    Reports name the file as the runner saw it, often from inside `tests/`. Where they name none, pytest's dotted module
    is the path: its part before the class, which begins with a capital letter.
    """
    path = file.replace("\\", "/").removeprefix("./")
    if not path:
        modules = [part for part in test.classname.split(".") if part]
        inner = next((at for at, part in enumerate(modules) if part[0].isupper()), len(modules))
        path = "/".join(modules[:inner]) + ".py" if inner else ""
    if path:
        yield path
        if not path.startswith(("tests/", "/")):
            yield f"tests/{path}"
