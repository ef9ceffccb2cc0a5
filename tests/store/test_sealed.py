"""What is kept comes back as it was put, or not at all."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import pytest

from flake_report.store.sealed import HarmedError, content_of, put

CONTENT = b"PAR1 and then some"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "new folder" / "name.sealed"
    put(path, CONTENT)
    return path


def test_what_was_put_comes_back_and_leaves_nothing_else(kept: Path) -> None:
    assert content_of(kept) == CONTENT
    assert list(kept.parent.iterdir()) == [kept]


def test_the_checksum_in_front_is_the_one_that_other_tools_make(kept: Path) -> None:
    assert int.from_bytes(kept.read_bytes()[:8], "big") == zlib.crc32(CONTENT)


def test_no_content_is_content(kept: Path) -> None:
    put(kept, b"")
    assert content_of(kept) == b""


@pytest.mark.parametrize("place", range(len(CONTENT) + 8))
def test_a_turned_bit_is_seen_wherever_it_is(kept: Path, place: int) -> None:
    held = bytearray(kept.read_bytes())
    held[place] ^= 1 << random.Random(place).randrange(8)
    kept.write_bytes(held)
    with pytest.raises(HarmedError):
        content_of(kept)


@pytest.mark.parametrize("left", range(len(CONTENT) + 8))
def test_a_file_that_was_cut_is_seen(kept: Path, left: int) -> None:
    kept.write_bytes(kept.read_bytes()[:left])
    with pytest.raises(HarmedError):
        content_of(kept)


def test_where_nothing_can_be_written_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        put(tmp_path / "taken", CONTENT)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
