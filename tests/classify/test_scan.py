"""The scan: every row with escapes at each border of a token, broken over lines, in blocks cut anywhere."""

from __future__ import annotations

import re
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.classify.scan import Scan, match_text
from flake_report.model.joblog import Block
from flake_report.parse.joblog import blocks, clean

FREE = (
    "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory utilization "
    "(0.47, 10.36 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)
NUMBERS = {"device": "cuda:0", "free_gib": 4.51, "total_gib": 22.05, "utilization": 0.47, "requested_gib": 10.36}
INFO = (
    "INFO 03-01 10:00:00 [gpu_worker.py:401] Free memory on device (78.65/79.14 GiB) on startup. Desired GPU memory "
    "utilization is (0.9, 71.22 GiB). Actual usage is 15.0 GiB for weight, 1.2 GiB for peak activation"
)
BORDER = re.compile(r"\b|(?<=\S)(?=\s)|(?<=\s)(?=\S)|(?<=\W)(?=\W)")
ESCAPES = {
    "colours": ("\x1b[31m", "\x1b[0m"),
    "24-bit colours and erased ends": ("\x1b[38;2;1;2;3m", "\x1b[0m\x1b[K"),
    "Buildkite's stamps": ("\x1b_bk;t=1745322209921\x07", "\x1b_bk;t=1745322209999\x07"),
    "colours copied as caret text": ("^[[31m", "^[[0m"),
    "character sets": ("\x1b(B", "\x1b(B\x1b[m"),
    "links": ("\x1b]8;;https://example.org/a\x1b\\", "\x1b]8;;\x1b\\"),
}
PREFIXES = {
    "nothing": "",
    "text stamps": "[2026-04-21T15:52:21Z] ",
    "agent stamps": "\x1b_bk;t=1745322209921\x07",
    "vLLM's own prefix": "(EngineCore pid=9) ERROR 11-30 10:30:59 [core.py:1195] ",
    "pytest's mark": "E       ",
    "a quote": "> ",
    "GitHub's stamps": "2026-07-29T17:45:22.4385450Z ",
    "torch's rank": "[rank0]: ",
    "docker compose": "engine-1  | ",
}


def with_escapes(text: str, borders: list[int], marks: tuple[str, str]) -> str:
    parts, before = [], 0
    for number, border in enumerate(borders):
        parts += [text[before:border], marks[number % 2]]
        before = border
    return "".join([*parts, text[before:]])


@pytest.mark.parametrize("marks", ESCAPES.values(), ids=ESCAPES.keys())
def test_every_row_is_found_with_escapes_at_any_border_of_a_token_and_at_all(table, search, marks):
    lost = []
    for row in table.rows:
        borders = [found.start() for found in BORDER.finditer(row.example)]
        lines = [with_escapes(row.example, chosen, marks) for chosen in [[border] for border in borders] + [borders]]
        found = {match.line for match in search("\n\n".join(lines).encode()) if match.signature is row}
        lost += [(row.name, line) for number, line in enumerate(lines) if 2 * number + 1 not in found]
    assert lost == []


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES.keys())
def test_every_row_is_found_behind_what_tools_put_before_a_message(table, search, prefix):
    lost = [
        row.name
        for row in table.rows
        if row.name not in {match.signature.name for match in search((prefix + row.example + "\r\n").encode())}
    ]
    assert lost == []


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES.keys())
@pytest.mark.parametrize("columns", [60, 72, 80, 100])
def test_a_message_broken_over_lines_captures_what_it_does_in_one(table, search, columns, prefix):
    wrapping = [row for at, row in enumerate(table.rows) if table.matcher.wraps(at)]
    assert len(wrapping) > 5
    for row in wrapping:
        whole = search(row.example.encode())[0]
        lines = textwrap.wrap(row.example, columns, break_long_words=False, break_on_hyphens=False)
        log = "before\n" + "\n".join(prefix + line for line in lines) + "\nafter\n"
        broken = [match for match in search(log.encode()) if match.signature is row]
        assert [match.captures for match in broken] == [whole.captures], row.name
        assert broken[0].line in range(2, 2 + len(lines))


def test_the_look_alike_of_a_good_start_is_no_match(search):
    assert search(INFO.encode()) == ()
    wrapped = (
        "Free memory on device (110.37/121.69 GiB) on startup.\nDesired GPU memory utilization is (0.87, 105.87 GiB)."
    )
    assert search(wrapped.encode()) == ()


def test_source_as_pytest_prints_it_is_no_match(search):
    source = b"""
    def request_memory(init_snapshot: MemorySnapshot, cache_config: CacheConfig) -> int:
        if init_snapshot.free_memory < requested_memory:
            raise ValueError(
                f"Free memory on device {init_snapshot.device_} "
                f"({format_gib(init_snapshot.free_memory)}/"
                f"{format_gib(init_snapshot.total_memory)} GiB) on startup "
                f"is less than desired GPU memory utilization "
    assert self.init_snapshot.free_memory >= free_gpu_memory, (
        "Error in memory profiling. "
        f"Initial free memory {format_gib(init)} GiB, current free memory {format_gib(free)} GiB. "
    raise ValueError("No available memory for the cache blocks. "
            "No available memory for the cache blocks. "
        raise RuntimeError("Engine core initialization failed. See root cause above.")
    + grep -q 'No space left on device' build.log
    """
    assert search(source) == ()


def test_numbers_are_numbers_and_the_device_is_text(search):
    assert [match.captures for match in search(FREE.encode())] == [NUMBERS]


def test_line_and_offset_point_at_the_line_in_the_file(search):
    before = b"first\r\n\x1b_bk;t=1\x07second\xff\xfe\r\r\n\n"
    found = search(before + FREE.encode() + b"\n" + FREE.encode())
    assert [(match.line, match.offset) for match in found] == [(4, len(before)), (5, len(before) + len(FREE) + 1)]


def test_text_that_was_written_over_is_still_searched(search):
    found = search(f"progress 1%\r{FREE}\rprogress 2%\r\r\nnext".encode())
    assert [(match.line, match.captures) for match in found] == [(1, NUMBERS)]


def test_a_hit_deep_in_an_endless_line_is_found(search):
    found = search(b"x" * 300_000 + b" " + FREE.encode() + b" " + b"y" * 300_000)
    assert [match.signature.name for match in found] == ["free-memory-at-start"]


def test_an_endless_line_full_of_hits_ends_in_bounded_work(search):
    assert len(search(b"CUDA out of memory, no space left on device, " * 50_000)) == 1


def test_a_log_of_nothing_but_failures_is_kept_in_part(search):
    found = search(b"OSError: [Errno 28] No space left on device\n" * 20_100 + FREE.encode())
    assert (len(found), found[-1].signature.name) == (20_001, "free-memory-at-start")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_blocks_cut_anywhere_give_the_same_matches(table, search, data):
    lines = [
        FREE,
        "ok",
        INFO,
        "FAILED tests/test_x.py::test_y - KeyError: 'a'",
        "\x1b[31mNo space left on device\x1b[0m",
    ]
    log = ("\n".join(data.draw(st.lists(st.sampled_from(lines), max_size=30))) + "\n").encode()
    size = data.draw(st.integers(1, 400))
    scan = Scan(table, clean)
    for block in blocks(log[at : at + size] for at in range(0, len(log), size)):
        scan.feed(block)
    assert scan.matches() == search(log)


def test_lines_that_two_blocks_share_count_once(table):
    scan = Scan(table, clean)
    line = FREE.encode() + b"\n"
    scan.feed(Block(line * 3, first_line=1, offset=0))
    scan.feed(Block(line * 2, first_line=3, offset=2 * len(line), overlap=len(line)))
    assert [match.line for match in scan.matches()] == [1, 2, 3, 4]


@settings(max_examples=300, deadline=None)
@given(
    st.binary()
    | st.lists(
        st.sampled_from(
            [b"Free memory on device ", b"cuda:0 (", b"\x1b[", b"\r", b"\n", b"\x00", b"\xff", b"CUDA out of memory"]
        )
    ).map(b"".join)
)
def test_any_bytes_are_taken(search, log):
    for match in search(log):
        assert 1 <= match.line <= log.count(b"\n") + 1


def test_of_a_tests_text_the_cause_is_best_and_not_the_wrapper(table):
    text = f"RuntimeError: Engine core initialization failed. See root cause above.\n\nlog:\n{FREE}\n"
    found = match_text(table, text)
    assert found is not None
    assert (found.signature.name, found.captures) == ("free-memory-at-start", NUMBERS)


def test_text_with_nothing_known_has_no_match(table):
    assert match_text(table, "all is well") is None
    assert match_text(table, "") is None
