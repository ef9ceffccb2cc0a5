"""Text is told from what is none."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from flake_report.parse.textual import is_text


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"plain\n",
        b"\x1b_bk;t=1\x07\x1b[90m$\x1b[0m make\r\r\n",
        "テストは失敗しました\n".encode(),
        b"caf\xe9 in Latin-1, mostly letters\n",
        b"NUL\x00 once\n" * 5,
    ],
    ids=["empty", "plain", "stamps and colours", "Japanese", "Latin-1", "a NUL now and then"],
)
def test_a_log_is_text(head: bytes) -> None:
    assert is_text(head)


def test_random_and_compressed_bytes_are_none() -> None:
    rng = random.Random(1)
    assert not is_text(rng.randbytes(5000))
    assert not is_text(gzip.compress(rng.randbytes(5000)))


def test_every_log_of_the_corpus_is_text(corpus: Path) -> None:
    plain = [path for path in (corpus / "logs").iterdir() if path.suffix != ".gz"]
    assert [path.name for path in plain if not is_text(path.read_bytes()[:16384])] == []
