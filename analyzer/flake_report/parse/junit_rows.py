"""The cases of a run of plain passes: split out only when they are needed."""

from __future__ import annotations

from collections.abc import Iterator

from .junit_case import PASSED, Case, Run
from .xmltext import plain


def rows(run: Run) -> Iterator[tuple[str, str, str, str]]:
    """Class, name, time and file of each case."""
    width = len(run.keys)
    values = run.text.split('"')[1::2]
    if "&" in run.text:
        values = [plain(value) for value in values]
    # White space written as such in a value is a space, says XML.
    if "\n" in (joined := "".join(values)) or "\t" in joined:
        values = _spaced(run)
    columns = {key: values[place::width] for place, key in enumerate(run.keys)}
    empty = [""] * (len(values) // width)
    classes = columns.get("classname") or columns.get("class") or empty
    return zip(classes, columns.get("name", empty), columns.get("time", empty), columns.get("file", empty), strict=True)


def _spaced(run: Run) -> list[str]:
    return [plain(value.replace("\n", " ").replace("\t", " ")) for value in run.text.split('"')[1::2]]


def case_of(classname: str, name: str, time: str, file: str) -> Case:
    """A row as a case like any other."""
    return Case(classname, name, file, time, "", PASSED, (), "", checks=False)
