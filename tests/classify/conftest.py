"""The packaged table, and a search through the real reader's blocks and cleaner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files

import pytest

from flake_report.classify.scan import Scan
from flake_report.classify.signatures import SignatureTable, parse_table
from flake_report.model.failure import Match
from flake_report.parse.joblog import blocks, clean

Search = Callable[[bytes], tuple[Match, ...]]


@pytest.fixture(scope="session")
def table() -> SignatureTable:
    text = files("flake_report.classify").joinpath("signatures.toml").read_text(encoding="utf-8")
    return parse_table(text, "signatures.toml")


@pytest.fixture(scope="session")
def search(table) -> Search:
    """All matches in a log, given whole."""

    def run(log: bytes) -> tuple[Match, ...]:
        scan = Scan(table, clean)
        for block in blocks([log]):
            scan.feed(block)
        return scan.matches()

    return run


@pytest.fixture(scope="session")
def make_table() -> Callable[..., SignatureTable]:
    """A table of one's own: each row is `name, pattern, example`, or a dict of all its keys."""

    def make(*rows: tuple[str, str, str] | dict[str, object], name: str = "mine.toml") -> SignatureTable:
        return parse_table("\n".join(map(as_toml, rows)), name)

    return make


def as_toml(row: tuple[str, str, str] | dict[str, object]) -> str:
    if isinstance(row, tuple):
        row = {"name": row[0], "blame": "infra", "pattern": row[1], "hint": "look", "example": row[2]}
    lines = [
        f"{key} = {str(value).lower()}" if isinstance(value, bool) else f"{key} = '''{value}'''"
        for key, value in row.items()
    ]
    return "\n".join(["[[signature]]", *lines])


@pytest.fixture(scope="session")
def smi_table() -> Callable[..., str]:
    """nvidia-smi's table for one card, as driver 570 prints it."""

    def make(*, used_mib: int, total_mib: int, holders: Sequence[tuple[int, str, int]] = ()) -> str:
        rows = [
            f"|    0   N/A  N/A      {pid:>9}      C   {name:<40} {size:>6}MiB |" for pid, name, size in holders
        ] or ["|  No running processes found                                                             |"]
        return "\n".join(
            [
                "| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |",
                "|   0  NVIDIA L4                      On  |   00000000:5A:00.0 Off |                    0 |",
                f"| N/A   41C    P0       31W /   72W | {used_mib:>7}MiB / {total_mib:>6}MiB |      0%      Default |",
                *rows,
            ]
        )

    return make
