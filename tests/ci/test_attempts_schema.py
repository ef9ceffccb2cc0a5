"""The contract of the attempts file, held by golden examples: what must be accepted, and what must not."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "ci" / "gpu-guard-buildkite-plugin"
GOLDEN = ROOT / "tests" / "fixtures" / "attempts"
FILES = sorted(GOLDEN.glob("attempts-*.jsonl"))
WRONG = json.loads((GOLDEN / "wrong-lines.json").read_text(encoding="utf-8"))


@cache
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((PLUGIN / "gpu_guard" / "attempts.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_line_of_a_golden_file_is_valid(path: Path) -> None:
    for number, line in enumerate(lines(path), start=1):
        errors = [error.message for error in validator().iter_errors(line)]
        assert errors == [], f"line {number}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_begins_with_its_session_and_holds_attempts(path: Path) -> None:
    first, *rest = lines(path)
    assert first["schema"] == "gpu-guard-attempts/1"
    assert "nodeid" in rest[0]


def test_the_golden_files_show_each_outcome_that_ends_a_session_and_a_session_that_died() -> None:
    last = {path.stem: lines(path)[-1] for path in FILES}
    assert {name for name, line in last.items() if "exit_status" not in line} == {"attempts-killed"}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong["why"])
def test_a_wrong_line_is_refused(wrong: dict[str, Any]) -> None:
    assert not validator().is_valid(wrong["line"])


def test_every_name_of_the_contract_stands_in_a_golden_file() -> None:
    def names(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value) | set().union(*map(names, value.values()))
        return set().union(*map(names, value)) if isinstance(value, list) else set()

    session, attempt, end = (validator().schema["$defs"][part]["properties"] for part in ("session", "attempt", "end"))
    memory = validator().schema["$defs"]["memory"]["properties"]
    shown = names([lines(path) for path in FILES])
    assert {*session, *attempt, *end, *memory} <= shown


def test_a_refusal_names_the_place() -> None:
    [error] = validator().iter_errors({"nodeid": "a.py::t", "attempt": 0, "outcome": "passed", "seconds": "soon"})
    assert list(error.absolute_path) == ["seconds"]


def test_the_wheel_builds_and_carries_the_contracts(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=PLUGIN, check=True, capture_output=True)
    [wheel] = tmp_path.glob("gpu_guard-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        [metadata] = [opened.read(name).decode() for name in names if name.endswith("METADATA")]
    tables = {"gpu_guard/attempts.schema.json", "gpu_guard/fingerprint.cases.json", "gpu_guard/label.cases.json"}
    assert {"gpu_guard/__init__.py", *tables} <= names
    assert "Requires-Python: >=3.9" in metadata
    assert "Requires-Dist" not in metadata
