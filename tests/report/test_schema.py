"""The schemas that are shipped: what is written fits them, and they leave no key untold."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from flake_report.model.query import Query
from flake_report.model.report import FlakeReport
from flake_report.report.files import FILES

WRITTEN = {"report.json": "report.schema.json", "flakes.json": "flakes.schema.json"}


def schema_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("flake_report.report").joinpath(WRITTEN[name]).read_text("utf-8"))
    return found


def strict(schema: Any) -> Any:
    """The same with no room for a key that it does not name: the schema itself leaves room for more."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return {**{key: strict(value) for key, value in schema.items()}, **closed}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> FlakeReport:
    """The demo's history, in which everything happens once."""
    from flake_report import demo, flow

    folder: Path = tmp_path_factory.mktemp("schema")
    demo.write_history(folder / "archive")
    table = flow.signature_table()
    flow.ingest(str(folder / "archive"), str(folder / "store"), table, lambda _message: None, lambda: None)
    return flow.show(str(folder / "store"), Query(), budget=0.005)


@pytest.mark.parametrize("name", WRITTEN)
def test_the_schema_itself_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema_of(name))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_history_fits_and_every_key_of_it_is_told(name: str, history: FlakeReport) -> None:
    jsonschema.Draft202012Validator(strict(schema_of(name))).validate(json.loads(FILES[name](history)))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_report_by_hand_fits(name: str, report: FlakeReport) -> None:
    jsonschema.Draft202012Validator(schema_of(name)).validate(json.loads(FILES[name](report)))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_key_that_is_missing_is_seen(name: str, report: FlakeReport) -> None:
    whole = json.loads(FILES[name](report))
    for key in whole:
        broken = {other: value for other, value in whole.items() if other != key}
        assert not jsonschema.Draft202012Validator(schema_of(name)).is_valid(broken), key
