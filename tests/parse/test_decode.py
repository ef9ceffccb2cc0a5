"""Bytes to text in blocks: what is found wrong is told with its place, wherever it stands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.parse import limits
from flake_report.parse.controls import has_controls, translated
from flake_report.parse.decode import blocks, text_blocks
from flake_report.parse.problems import Problems


def decoded(data: bytes) -> tuple[str, Problems]:
    problems = Problems()
    return "".join(text_blocks(blocks([data]), problems)), problems


@settings(deadline=None)
@given(st.lists(st.binary(max_size=50), max_size=8))
def test_blocks_are_the_same_bytes(chunks: list[bytes]) -> None:
    assert b"".join(blocks(chunks)) == b"".join(chunks)


@pytest.mark.parametrize("size", [1, 1000, limits.BLOCK_BYTES - 1, limits.BLOCK_BYTES, 3 * limits.BLOCK_BYTES])
def test_blocks_have_one_size_however_the_bytes_come(size: int) -> None:
    total = 2 * limits.BLOCK_BYTES + 7
    data = bytes(range(256)) * (total // 256 + 1)
    chunks = [data[start : min(start + size, total)] for start in range(0, total, size)] if size > 1 else [data[:total]]
    assert [len(block) for block in blocks(chunks)] == [limits.BLOCK_BYTES, limits.BLOCK_BYTES, 7]


@pytest.mark.parametrize("block", [0, 3, 40], ids=["the first block", "an early block", "a late block"])
def test_a_control_character_is_found_in(block: int) -> None:
    data = bytearray(b"<a>" + b"x" * 45 * limits.BLOCK_BYTES)
    place = block * limits.BLOCK_BYTES + 5
    data[place] = 0x1B
    text, problems = decoded(bytes(data))
    assert problems.damaged
    assert str(problems.warnings()[0]) == f"about byte {place:,}: characters that XML does not allow"
    assert text[place] == "\x1b"


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_both_ways_of_looking_for_control_characters_agree(data: bytes) -> None:
    large = data + b" " * limits.BLOCK_BYTES
    for _ in range(20):
        has_controls(large)  # the first few go the plain way
    assert (
        translated(data)
        == has_controls(data)
        == has_controls(large)
        == any(byte < 0x20 and byte not in b"\t\n\r" for byte in data)
    )


def test_a_character_that_is_cut_at_the_end_is_told() -> None:
    text, problems = decoded("<a>é".encode()[:-1])
    assert text.startswith("<a>")
    assert problems.damaged


def test_after_bytes_that_are_no_utf_8_the_rest_is_still_read_as_utf_8() -> None:
    text, problems = decoded(b"<a>\xe9 \xc3\xa9</a>")
    assert text == "<a>é é</a>"
    assert str(problems.warnings()[0]) == "byte 3 and later: bytes that are not utf-8, read as Latin-1"


@pytest.mark.parametrize("cut", [limits.BLOCK_BYTES - 1, limits.BLOCK_BYTES, limits.BLOCK_BYTES + 1])
def test_a_line_end_between_two_blocks_is_one_line_end(cut: int) -> None:
    text, _problems = decoded(b"x" * (cut - 1) + b"\r\n" + b"y\rz")
    assert text.endswith("x\ny\nz")


def test_of_many_different_warnings_the_rest_is_a_number() -> None:
    problems = Problems()
    for number in range(limits.WARNINGS + 5):
        problems.note(f"warning {number}")
    assert len(problems.warnings()) == limits.WARNINGS + 1
    assert str(problems.warnings()[-1]) == "5 more warnings"
    assert not problems.damaged
