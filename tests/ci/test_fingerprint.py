"""The recorder's fingerprint: every case of the shared table, and nothing that upsets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_guard import fingerprint as recorder

TABLE = Path(recorder.__file__).with_name("fingerprint.cases.json")
CASES = json.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["case"])
def test_each_case_of_the_table_gives_its_title_and_hash(case):
    found = recorder.fingerprint(case["text"])
    assert (found.title if found else None, found.hash if found else None) == (case["title"], case["hash"])


def test_the_table_is_of_the_version_that_is_written():
    assert CASES["version"] == recorder.VERSION


@given(st.text())
def test_any_text_is_taken_and_gives_one_line(text):
    found = recorder.fingerprint(text)
    assert found is None or (len(found.hash) == 16 and "\n" not in found.title)


@given(st.integers(), st.integers())
def test_two_numbers_give_one_fingerprint(first, second):
    one, other = (recorder.fingerprint(f"ValueError: size {number} is bad") for number in (first, second))
    assert one == other


@given(st.uuids(), st.ip_addresses(), st.integers(0, 65535))
def test_ids_and_addresses_leave_no_trace(identity, address, port):
    host = f"[{address}]" if address.version == 6 else str(address)
    found = recorder.fingerprint(f"OSError: {identity} is not at {host}:{port}")
    assert found is not None
    assert found.title == "OSError: # is not at <ip>"


def test_the_module_needs_nothing_but_the_standard_library():
    script = "import sys; sys.path.insert(0, sys.argv[1]); import gpu_guard.fingerprint"
    subprocess.run([sys.executable, "-I", "-S", "-c", script, str(TABLE.parent.parent)], check=True)
