"""Data in, plain data out, whatever the compression; the plain data is what Python's own modules put in."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from flake_report.collect.compression import decompressed
from flake_report.errors import FlakeReportError

LOG = b"".join(b"line %d of a log that is long enough to compress\n" % number for number in range(20_000))
SKIPPABLE = b"\x5a\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def read(data: bytes, size: int = 1 << 16) -> bytes:
    return b"".join(decompressed("build.log", chunks(data, size)))


def read_until_damage(data: bytes) -> tuple[bytes, str]:
    got = []
    with pytest.raises(FlakeReportError) as raised:
        got.extend(decompressed("build.log", chunks(data, 5000)))
    return b"".join(got), str(raised.value)


@pytest.mark.parametrize(
    ("packed", "plain"),
    [
        pytest.param(b"", b"", id="an empty file"),
        pytest.param(b"a", b"a", id="a file shorter than any magic"),
        pytest.param(LOG, LOG, id="plain text"),
        pytest.param(gzip.compress(LOG), LOG, id="one gzip member"),
        pytest.param(gzip.compress(LOG) + gzip.compress(b"end"), LOG + b"end", id="two gzip members"),
        pytest.param(gzip.compress(b"") + gzip.compress(b"end"), b"end", id="an empty gzip member first"),
        pytest.param(gzip.compress(LOG) + b"\0" * 512, LOG, id="gzip padded with zeros"),
        pytest.param(gzip.compress(b"a") + b"\0" * 9 + gzip.compress(b"b"), b"ab", id="zeros between gzip members"),
        pytest.param(zstd(LOG), LOG, id="one zstd frame"),
        pytest.param(zstd(LOG) + zstd(b"end"), LOG + b"end", id="two zstd frames"),
        pytest.param(SKIPPABLE + zstd(LOG) + SKIPPABLE, LOG, id="zstd with skippable frames"),
        pytest.param(b"\x28\xb5 is no zstd", b"\x28\xb5 is no zstd", id="half of a magic is text"),
    ],
)
@pytest.mark.parametrize("size", [1 << 16, 7], ids=["large chunks", "tiny chunks"])
def test_the_plain_data_comes_out(packed: bytes, plain: bytes, size: int) -> None:
    assert read(packed, size) == plain


@given(st.lists(st.binary(max_size=300), max_size=5), st.integers(1, 64), st.sampled_from(["gzip", "zstd"]))
def test_any_members_in_any_chunks_give_their_contents_in_order(members: list[bytes], size: int, kind: str) -> None:
    pack = gzip.compress if kind == "gzip" else zstd
    assert read(b"".join(map(pack, members)), size) == b"".join(members)


@pytest.mark.parametrize("pack", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_cut_data_gives_what_could_be_read_and_then_says_so(pack: object) -> None:
    packed = pack(LOG[:400_000]) + pack(LOG[400_000:])  # type: ignore[operator]  # either function takes bytes
    got, said = read_until_damage(packed[:-20])
    assert LOG.startswith(got)
    assert len(got) >= 400_000
    assert re.fullmatch(r"build\.log: the (gzip|zstd) data ends in the middle, after [\d,]+ readable bytes; .*", said)
    assert f"{len(got):,} readable" in said


def test_a_broken_gzip_member_is_damage() -> None:
    packed = bytearray(gzip.compress(LOG))
    packed[len(packed) // 2 : len(packed) // 2 + 40] = b"\xff" * 40
    got, said = read_until_damage(bytes(packed))
    assert 0 < len(got) < len(LOG)
    assert "build.log: the gzip data is damaged after" in said


def test_a_wrong_checksum_is_damage_even_though_all_bytes_came() -> None:
    packed = bytearray(gzip.compress(LOG))
    packed[-6] ^= 1
    got, said = read_until_damage(bytes(packed))
    assert LOG.startswith(got)
    assert "damaged" in said


@pytest.mark.parametrize("junk", [b"junk after the end", b"\x1f\x8b"], ids=["text", "half a header"])
def test_something_else_after_the_last_member_is_damage_but_the_member_is_kept(junk: bytes) -> None:
    got, _ = read_until_damage(gzip.compress(b"whole") + junk)
    assert got == b"whole"


@given(st.binary(max_size=200), st.sampled_from([b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", SKIPPABLE, b""]))
def test_arbitrary_bytes_end_in_data_or_in_the_one_expected_error(tail: bytes, magic: bytes) -> None:
    said = "x: the "
    try:
        list(decompressed("x", iter([magic + tail])))
    except FlakeReportError as error:
        said = str(error)
    assert said.startswith("x: the ")


def test_a_small_file_that_grows_huge_comes_in_pieces() -> None:
    bomb = zstd(b"\0" * 600_000_000)  # 18 kB
    largest, total = 0, 0
    for chunk in decompressed("bomb", iter([bomb])):
        largest, total = max(largest, len(chunk)), total + len(chunk)
    assert total == 600_000_000
    assert largest < 200_000_000


def test_pieces_of_the_output_follow_each_other_without_a_gap() -> None:
    got = list(decompressed("x", iter([gzip.compress(LOG)])))
    ends = [0]
    for piece in got:
        ends.append(ends[-1] + len(piece))
    assert all(LOG[start:end] == piece for (start, end), piece in zip(pairwise(ends), got, strict=True))
