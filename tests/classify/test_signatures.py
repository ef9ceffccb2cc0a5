"""The table: its own examples, its order, and every way in which a user's table can be wrong."""

from __future__ import annotations

import re

import pytest

from flake_report.classify.scan import match_text
from flake_report.classify.signatures import parse_table
from flake_report.errors import FlakeReportError
from flake_report.model.failure import Blame

ROW = {
    "name": "mine",
    "blame": "infra",
    "pattern": "frobnicator exploded",
    "hint": "wait",
    "example": "the frobnicator exploded",
}


def test_the_packaged_table_is_large_and_its_examples_prove_themselves(table):
    assert len(table.rows) >= 80


def test_every_packaged_row_says_where_its_example_was_seen(table):
    assert [row.name for row in table.rows if not row.source.strip()] == []


def test_every_packaged_row_has_words_for_people(table):
    assert [row.name for row in table.rows if not row.title or not row.hint or row.title.endswith(".")] == []


def test_every_blame_is_used(table):
    assert {row.blame for row in table.rows} == set(Blame)


def test_an_example_alone_is_matched_by_its_own_row(table):
    found = {row.name: match_text(table, row.example) for row in table.rows}
    assert {name: match.signature.name if match else None for name, match in found.items()} == {
        name: name for name in found
    }


def test_a_users_rows_come_first(table, make_table):
    mine = make_table(("disk-on-fire", "No space left on device", "No space left on device"))
    both = table.extended(mine)
    assert both.rows[0].name == "disk-on-fire"
    found = match_text(both, "OSError: [Errno 28] No space left on device")
    assert found is not None
    assert found.signature.name == "disk-on-fire"


def test_a_users_row_replaces_ours_of_the_same_name(table, make_table):
    both = table.extended(make_table(("disk-full", "drive is brimming", "the drive is brimming")))
    assert [row.pattern for row in both.rows if row.name == "disk-full"] == ["drive is brimming"]
    assert len(both.rows) == len(table.rows)


def test_the_digest_tells_tables_apart_and_ignores_hints(make_table):
    one = make_table(ROW)
    assert one.digest == make_table({**ROW, "hint": "another"}).digest
    assert one.digest != make_table({**ROW, "pattern": "frobnicator"}).digest
    assert re.fullmatch(r"[0-9a-f]{16}", one.digest)


def test_title_source_and_flags_may_be_left_out(make_table):
    row = make_table(ROW).rows[0]
    assert (row.title, row.source, row.wrapper, row.weak) == ("mine", "", False, False)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            {"patern": "x"}, "mine.toml, row 1 (mine) has an unknown key 'patern'; did you mean 'pattern'?", id="a key"
        ),
        pytest.param({"blame": "gpu-memry"}, "unknown blame 'gpu-memry'; did you mean 'gpu-memory'?", id="a blame"),
        pytest.param({"blame": "weather"}, "unknown blame 'weather'; it is one of gpu-memory", id="a blame far off"),
        pytest.param({"example": None}, "mine.toml, row 1 (mine) has no example; add example", id="no example"),
        pytest.param({"pattern": None}, "has no pattern; add pattern", id="no pattern"),
        pytest.param({"hint": "  "}, "has no hint", id="a blank hint"),
        pytest.param({"name": "My Row"}, "a name is lower-case words joined by hyphens", id="a name with blanks"),
        pytest.param({"wrapper": "yes"}, "wrapper is true or false, not 'yes'", id="a flag that is text"),
        pytest.param({"pattern": "frobnicator ("}, "row 'mine': the pattern is refused: missing )", id="a bracket"),
        pytest.param({"pattern": "frobnicator(?=x)"}, "look-around", id="look-ahead"),
        pytest.param({"pattern": r"(f)robnicator\1"}, r"the escape \1 is not taken", id="a back-reference"),
        pytest.param({"pattern": "(frob|(a+)+)nicator"}, "it explodes", id="a repeat in a repeat"),
        pytest.param({"pattern": "frobnicator(?:x+x+)+"}, "it explodes", id="two repeats in a repeat"),
        pytest.param({"pattern": "frobnicator x{1,9999}"}, "it explodes", id="a huge repeat"),
        pytest.param({"pattern": "|".join(f"frob{n}x nic" for n in range(999))}, "it explodes", id="many alternatives"),
        pytest.param({"pattern": "(?:a|b|c|d|e)" * 9 + "x"}, "it explodes", id="alternatives beside alternatives"),
        pytest.param({"pattern": r"frobnicator.*\S+.*\S+.*\w+.*"}, "it explodes", id="many open repeats"),
        pytest.param({"pattern": r"\d+"}, "it has no word that every match must hold", id="no word"),
        pytest.param(
            {"pattern": "frobnicator|.*"}, "it has no word that every match must hold", id="one side without a word"
        ),
        pytest.param(
            {"example": "raise Error('frobnicator exploded')"}, "does not match its own example", id="source as example"
        ),
        pytest.param(
            {"pattern": "frobnicator imploded"}, "'mine' does not match its own example", id="the wrong example"
        ),
    ],
)
def test_a_wrong_row_is_refused_with_its_name_and_the_remedy(make_table, change, said):
    row = {key: value for key, value in {**ROW, **change}.items() if value is not None}
    with pytest.raises(FlakeReportError) as raised:
        make_table(row)
    assert said in str(raised.value)
    assert str(raised.value).startswith("mine.toml")
    assert "\n" not in str(raised.value)


def test_an_example_that_an_earlier_row_takes_names_both(make_table):
    with pytest.raises(
        FlakeReportError, match="row 'second': the earlier row 'first' takes its example; move the row up"
    ):
        make_table(("first", "frobnicator", "frobnicator"), ("second", "frobnicator exploded", "frobnicator exploded"))


def test_two_rows_of_one_name_are_refused(make_table):
    with pytest.raises(FlakeReportError, match="two rows named 'mine'"):
        make_table(ROW, ROW)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("[[signature]\nname = 1", "mine.toml is not valid TOML", id="not TOML"),
        pytest.param("[[signatur]]\nname = 'x'", "unknown key 'signatur'; rows are written as", id="another table"),
        pytest.param("", "holds no rows", id="empty"),
        pytest.param("signature = 3", "holds no rows", id="a number"),
        pytest.param("[signature]\nname = 'x'", "holds no rows", id="one row without double brackets"),
        pytest.param("[[signature]]\nname = 3", "row 1 has no name", id="a name that is a number"),
    ],
)
def test_a_wrong_file_is_refused(text, said):
    with pytest.raises(FlakeReportError) as raised:
        parse_table(text, "mine.toml")
    assert said in str(raised.value)
