"""Quarantine files as people leave them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.errors import FlakeReportError
from flake_report.model.quarantine import Quarantine
from flake_report.parse.quarantine import read_quarantine


def file(*entries: object, **more: object) -> bytes:
    return json.dumps({"schema": "flake-quarantine/1", "entries": list(entries), **more}).encode()


def test_an_entry_needs_little_and_keeps_what_it_has():
    (entry,) = read_quarantine(
        file({"test": "a::b", "expires": "2026-12-31T00:00:00Z", "fingerprints": ["x", ""]}), "q"
    ).entries
    assert (entry.test, entry.fingerprints, entry.expires.isoformat(), entry.step) == ("a::b", ("x",), "2026-12-31", "")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "q.json: is no JSON"),
        (b"\xff", "q.json: is no JSON"),
        (b"[" * 100_000, "q.json: is no JSON"),
        (b"[]", "q.json: is no flake-quarantine/1 file"),
        (b'{"schema": "flake-quarantine/2", "entries": []}', "q.json: is no flake-quarantine/1 file"),
        (file(3), "q.json: entry 0 needs a test"),
        (file({"test": "a", "expires": "soon"}), "q.json: entry 0 needs a test"),
        (file({"test": "a", "expires": "2026-12-31", "fingerprints": "x"}), "q.json: entry 0 needs a test"),
        (file(lapsed=[{}]), "q.json: lapsed entry 0 needs a test"),
        (file(lapsed=3), "q.json: lapsed is no list"),
    ],
    ids=[
        "cut",
        "no text",
        "too deep",
        "no object",
        "another version",
        "no entry",
        "no date",
        "no list",
        "a lapsed entry",
        "lapsed is no list",
    ],
)
def test_what_cannot_be_used_is_named(data, says):
    with pytest.raises(FlakeReportError) as raised:
        read_quarantine(data, "q.json")
    assert str(raised.value).startswith(says)


VALUES = st.recursive(
    st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(st.binary() | VALUES.map(lambda value: file(value, lapsed=value)))
def test_any_bytes_are_a_list_or_one_sentence(data):
    try:
        found = read_quarantine(data, "q.json")
    except FlakeReportError as error:
        said = str(error)
        assert said.startswith("q.json: ")  # either outcome is right
    else:
        assert isinstance(found, Quarantine)
