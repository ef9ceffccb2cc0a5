"""Blocks against the plainest reading there is: the whole file in memory, split at line feeds."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from flake_report.parse.joblog import blocks

texts = st.lists(st.sampled_from([b"a", b"line of text", b"\n", b"\r\n", b"\x1b[0m", b"\xff", b""])).map(b"".join)


def chunked(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(places)] or [data]


@given(texts, st.lists(st.integers(0, 400)), st.integers(1, 60), st.integers(0, 40))
def test_blocks_hold_every_byte_once_with_the_line_numbers_of_the_whole_file(
    data: bytes, cuts: list[int], size: int, overlap: int
) -> None:
    seen = bytearray()
    for block in blocks(chunked(data, cuts), size, overlap):
        assert block.data == data[block.offset : block.offset + len(block.data)]
        assert block.offset + block.overlap == len(seen)
        assert block.overlap <= overlap
        assert block.first_line == 1 + data.count(b"\n", 0, block.offset)
        seen += block.data[block.overlap :]
    assert bytes(seen) == data


@given(texts, st.lists(st.integers(0, 400)), st.integers(1, 60), st.integers(0, 40))
def test_a_block_begins_and_ends_at_a_line_s_end_unless_it_says_that_it_is_cut(
    data: bytes, cuts: list[int], size: int, overlap: int
) -> None:
    before = None
    for block in blocks(chunked(data, cuts), size, overlap):
        if before is None or not before.cut:
            assert block.offset == 0 or data[block.offset - 1 : block.offset] == b"\n"
        last = block.offset + len(block.data) == len(data)
        assert last or block.cut or block.data.endswith(b"\n")
        if block.cut:
            assert b"\n" not in block.data[block.overlap :]
        before = block


def test_an_empty_file_is_one_empty_block() -> None:
    assert [(block.data, block.first_line, block.offset) for block in blocks([])] == [(b"", 1, 0)]
    assert [block.data for block in blocks([b"", b""])] == [b""]


def test_a_file_of_one_chunk_is_handed_on_as_it_came() -> None:
    data = b"one\ntwo\n"
    (block,) = blocks([data])
    assert block.data is data


def test_a_line_of_100_mb_passes_in_flat_memory_with_its_neighbours_numbers() -> None:
    def file() -> Iterator[bytes]:
        yield b"first\n"
        for _ in range(100):
            yield b"x" * (1 << 20)
        yield b"\nthird\n"

    tracemalloc.start()
    cut, last = 0, None
    for block in blocks(file()):
        cut += block.cut
        last = block
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert last is not None
    assert cut >= 12
    lines = last.data.split(b"\n")
    assert last.first_line + lines.index(b"third") == 3
    assert peak < 28 << 20
