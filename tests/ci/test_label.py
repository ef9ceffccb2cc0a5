"""The recorder's reading of labels: every case of the shared table, and nothing that upsets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_guard import label as recorder
from gpu_guard.label import plain_label

TABLE = Path(recorder.__file__).with_name("label.cases.json")
CASES = json.loads(TABLE.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_each_case_of_the_table_gives_its_step(case):
    assert plain_label(case["label"], parallel=case["parallel"]) == case["step"]


def test_no_case_stands_in_the_table_twice():
    assert len({(case["label"], case["parallel"]) for case in CASES}) == len(CASES)
    assert len({case["case"] for case in CASES}) == len(CASES)


@given(st.from_regex(r"[A-Z][a-z]{0,8}( [A-Z][a-z]{1,8}){0,3}", fullmatch=True), st.integers(1, 99), st.integers(1, 99))
def test_every_shard_of_a_step_has_its_name(name, place, count):
    shards = [f"{name} {place}/{count}", f"{name} ({place} of {count})", f":nvidia: {name} [{place}/{count}]"]
    assert {plain_label(shard, parallel=parallel) for shard in shards for parallel in (True, False)} == {name}
    assert plain_label(f"{name} {place}", parallel=True) == name
    assert plain_label(f"{name} {place}", parallel=False) == f"{name} {place}"


@given(st.text(), st.booleans())
def test_any_label_but_an_empty_one_names_a_step(label, parallel):
    assert bool(plain_label(label, parallel=parallel)) is bool(label)


def test_the_module_needs_nothing_but_the_standard_library():
    script = "import sys; sys.path.insert(0, sys.argv[1]); import gpu_guard.label"
    subprocess.run([sys.executable, "-I", "-S", "-c", script, str(TABLE.parent.parent)], check=True)
