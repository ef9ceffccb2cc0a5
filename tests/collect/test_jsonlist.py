"""A JSON list read element by element, however it is cut into chunks; the standard library is the judge."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.collect.jsonlist import elements

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), max_size=5)


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@settings(deadline=None)
@given(rows=OBJECTS, size=st.integers(1, 40), indent=st.sampled_from([None, 1]), plain=st.booleans())
def test_any_cutting_gives_the_same_elements(*, rows: list[dict], size: int, indent: int | None, plain: bool) -> None:
    data = json.dumps(rows, indent=indent, ensure_ascii=plain).encode("utf-8", "surrogatepass")
    try:
        data.decode()
    except UnicodeDecodeError:
        return
    assert list(elements(cut(data, size))) == json.loads(data)


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(1, 9))
def test_any_bytes_give_what_the_standard_library_gives_or_a_value_error(data: bytes, size: int) -> None:
    try:
        found = list(elements(cut(data, size)))
    except ValueError:
        return
    assert found == json.loads(data)


@pytest.mark.parametrize(
    "text", ["", " ", "{}", "[", "[{}", "[{},", "[{}]x", "[{} {}]", "[{},]", "[,]", "null", '[{"a":}]', "[" * 100_000]
)
def test_what_is_no_whole_list_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        list(elements([text.encode()]))


def test_elements_before_the_damage_come_first() -> None:
    reader = elements([b'[{"a": 1}, {"b"'])
    assert next(reader) == {"a": 1}
    with pytest.raises(ValueError, match=r".*"):
        next(reader)


def test_memory_holds_one_element_at_a_time() -> None:
    one = json.dumps({"text": "x" * 50_000}).encode()

    def chunks() -> Iterator[bytes]:
        yield b"[" + one
        for _ in range(400):
            yield b"," + one
        yield b"]"

    tracemalloc.start()
    count = sum(1 for _ in elements(chunks()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 401
    assert peak < 1_500_000  # of 20 MB
