"""The analyzer's fingerprint: the same table as the recorder's, and the same answer on any text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.classify import fingerprint as analyzer
from gpu_guard import fingerprint as recorder

CASES = json.loads(Path(recorder.__file__).with_name("fingerprint.cases.json").read_text(encoding="utf-8"))["cases"]
PIECES = st.sampled_from(
    ["/a/b", "C:\\x\\y.py", "0x1f", "10.0.0.1:80", "fe80::1", "[::1]:9", "1.5e-3", "-7", "deadbee1", " ", ":", "E   ",
     "Traceback (most recent call last):\n", "...", "…", "\x1b[31m", "^[[0m", "assert ", "ValueError: ", "\n", "é", "_"]
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_each_case_of_the_table_gives_its_title_and_hash(case):
    found = analyzer.fingerprint(case["text"])
    assert (found.title if found else None, found.hash if found else None) == (case["title"], case["hash"])


@settings(max_examples=500)
@given(st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join))
def test_recorder_and_analyzer_agree_on_any_text(text):
    ours, theirs = analyzer.fingerprint(text), recorder.fingerprint(text)
    assert (ours and (ours.hash, ours.title)) == (theirs and tuple(theirs))


def test_both_sides_speak_of_one_version():
    assert analyzer.VERSION == recorder.VERSION


def test_a_failure_has_one_fingerprint_on_every_machine():
    here = analyzer.fingerprint("OSError: /home/me/vllm/x.bin at 0x7f00 on 10.1.2.3:80 (try 1)")
    there = analyzer.fingerprint("OSError: /root/src/x.bin at 0x88aa on 172.16.0.9:443 (try 22)")
    assert here == there


def test_other_failures_have_other_fingerprints():
    assert analyzer.fingerprint("KeyError: 'a'") != analyzer.fingerprint("KeyError: 'b'")
