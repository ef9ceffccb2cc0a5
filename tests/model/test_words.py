"""Words for people: what cannot be seen is spelt out."""

from __future__ import annotations

import pytest

from flake_report.model.words import spelt, spelt_in_json


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b]0;title\x07", "a\\x1b]0;title\\x07"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\ud800", "\\ud800"),
        ("a\tb\nc", "a b\nc"),
        ("größe 测试 👩\u200d💻", "größe 测试 👩\u200d💻"),
    ],
    ids=["terminal codes", "reading order", "no width", "half a character", "tabs and lines", "letters and emoji stay"],
)
def test_hidden_characters_are_spelt_out(text: str, expected: str) -> None:
    assert spelt(text) == expected


def test_json_keeps_every_character() -> None:
    assert spelt_in_json('"\u202e\x7f"') == '"\\u202e\\u007f"'
