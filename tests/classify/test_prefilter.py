"""Which texts stand for a pattern in raw bytes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.classify.pattern import parse_pattern
from flake_report.classify.prefilter import Text, prefilter


def texts(source: str) -> list[bytes]:
    return [text.text for text in prefilter(parse_pattern(source)).texts]


@pytest.mark.parametrize(
    ("source", "first"),
    [
        pytest.param("CUBLAS_STATUS_ALLOC_FAILED", b"CUBLAS_STATUS_ALLOC_FAILED", id="a name of its own"),
        pytest.param("uncorrectable ECC error", b"uncorrectable ECC error", id="words until they are rare enough"),
        pytest.param(r"\d+ of \d+ frobnicators melted", b"frobnicators melted", id="not the common words before"),
        pytest.param("(?:the )?frobnicator_3 died", b"frobnicator_3", id="not what may be absent"),
        pytest.param("[Ff]robnicator", b"robnicator", id="not a letter of two"),
        pytest.param(r"^\s+frobnicator_3$", b"frobnicator_3", id="anchors and blanks vanish"),
    ],
)
def test_the_rarest_stretch_is_chosen(source, first):
    assert texts(source)[0] == first


def test_each_alternative_has_its_text():
    assert {b"frobnicator", b"quuxifier_1"} <= set(texts("frobnicator|quuxifier_1"))


def test_where_words_are_common_alternatives_within_are_opened():
    assert {b"FAILED", b"ERROR"} <= set(texts(r"^(?:FAILED|ERROR) \S+"))


def test_between_two_words_an_escape_may_stand():
    found = texts("frobnicator melted")
    assert {b"frobnicator\x1b", b"frobnicator \x1b", b"frobnicator^[", b"frobnicator ^["} <= set(found)
    assert b"frobnicator\n" not in found


def test_where_blanks_may_be_a_break_the_line_may_end():
    found = prefilter(parse_pattern(r"frobnicator\s+melted"))
    assert found.wraps
    assert {b"frobnicator\n", b"frobnicator \n", b"frobnicator\r"} <= {text.text for text in found.texts}
    assert not prefilter(parse_pattern("frobnicator melted")).wraps


def test_what_follows_an_interruption_must_stand_nearby():
    found = prefilter(parse_pattern("frobnicator melted")).texts
    assert Text(b"frobnicator\x1b", (b"melted",)) in found


def test_words_from_elsewhere_are_asked_for_too():
    assert Text(b"frobnicator_3", (b"basement",)) in prefilter(parse_pattern(r"frobnicator_3 \w+ \d+ basement")).texts


def test_a_caseless_pattern_asks_for_no_words_whose_case_it_does_not_know():
    found = prefilter(parse_pattern(r"(?i)frobnicator_3 \w+ \d+ basement"))
    assert found.caseless
    assert {text.nearby for text in found.texts} == {()}


def test_letters_beyond_ascii_are_looked_for_in_utf_8():
    assert "❯".encode() in texts(r"^❯ \d")


WORDS = st.sampled_from(["frobnicator", "the", "error", "_x9", ": ", "[", " ", "é"])
PARTS = WORDS.map(re.escape) | st.sampled_from([r"\d+", ".*", r"\s+", "(?:melted|froze solid)", "(?: again)?", "[Aa]b"])


@given(st.lists(PARTS, min_size=1, max_size=8).map("".join), st.data())
def test_every_match_of_a_pattern_holds_one_of_its_texts(source, data):
    try:
        found = texts(f"frobnicate{source}")
    except ValueError:
        return
    match = data.draw(st.from_regex(f"frobnicate{source}", fullmatch=True, alphabet=st.characters(codec="utf-8")))
    plain = re.sub(r"[^\S \t\n\r]", " ", match)  # logs know these four kinds of blank
    if re.fullmatch(f"frobnicate{source}", plain):
        assert any(text in plain.encode() for text in found)
