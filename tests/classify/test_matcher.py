"""One matcher, shared by many scans."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

from flake_report.classify.scan import match_text
from flake_report.classify.signatures import SignatureTable


def named(table: SignatureTable, text: str) -> str:
    match = match_text(table, text)
    return match.signature.name if match else ""


def test_scans_in_threads_find_what_each_finds_alone(table: SignatureTable) -> None:
    texts = ["a line of nothing\n" * 2000 + row.example for row in table.rows] * 3
    alone = [named(table, text) for text in texts]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda text: named(table, text), texts)) == alone
    assert len(set(alone)) > len(table.rows) // 2


def test_a_table_that_has_searched_still_travels_to_other_processes(table: SignatureTable) -> None:
    [first, *_] = table.rows
    alone = named(table, first.example)
    assert alone
    there = pickle.loads(pickle.dumps(table))  # noqa: S301 - our own bytes
    assert named(there, first.example) == alone
