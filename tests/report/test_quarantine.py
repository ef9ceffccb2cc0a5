"""What people and the recorder read of the quarantine list."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from flake_report.model.quarantine import Decided, Entry, Fate, Quarantine
from flake_report.parse.quarantine import read_quarantine
from flake_report.report import quarantine as page

ENTRY = Entry(
    "v1.x::t[a]", "unit", "l4", ("aaaa", "bbbb"), "3 of 20 runs failed first", "https://buildkite.com/o/p/builds/7#j",
    "@gpu", date(2026, 11, 4), date(2026, 12, 30),
)  # fmt: skip
TODAY = date(2026, 11, 30)


def test_what_is_written_is_what_is_read():
    listed = Quarantine((ENTRY,), (ENTRY,))
    assert read_quarantine(page.to_file(listed), "q.json") == listed


@pytest.mark.parametrize("width", [80, 120])
def test_every_fate_is_named_with_its_reason(width, printed):
    others = {Fate.EXPIRED: replace(ENTRY, test="v1.x::t[b]")}
    decided = [Decided(others.get(fate, ENTRY), fate, f"because {fate.name}") for fate in Fate]
    flat = " ".join(printed(page.to_text("q.json", decided, TODAY), width).split())
    for words in (
        "added v1.x::t[a] unit · l4 · @gpu 3 of 20 runs failed first https://buildkite.com/o/p/builds/7#j",
        "until 2026-12-30, 30 days left",
        "healed v1.x::t[a] unit · l4 · @gpu because HEALED",
        "because EXPIRED: it fails builds again; --renew lists it anew if it still flakes",
        "still flaky, and because HELD_BACK: --renew lists it anew",
        "2 failures excused → q.json · 1 added · 1 kept · 1 healed · 1 expired · 1 held back",
    ):
        assert words in flat


def test_a_name_as_long_as_the_terminal_begins_beside_its_fate(printed):
    long = replace(ENTRY, test="v1.kv_connector.unit.test_transfer_timeout::test_read_finishes_before_deadline")
    first, *_ = printed(page.to_text("q.json", [Decided(long, Fate.ADDED)], TODAY), 80).splitlines()
    assert first.startswith("added     v1.kv_connector.unit.test_transfer_timeout::test_read_")


def test_what_was_renewed_is_not_said_to_fail_builds(printed):
    ran_out = replace(ENTRY, expires=date(2026, 11, 29))
    decided = [Decided(ran_out, Fate.EXPIRED, "on 2026-11-29"), Decided(ENTRY, Fate.ADDED)]
    text = printed(page.to_text("q.json", decided, TODAY))
    assert "on 2026-11-29: it is listed anew" in text
    assert "fails builds again" not in text


def test_an_empty_list_says_so(printed):
    assert printed(page.to_text("q.json", [], TODAY)).strip() == "nothing is excused → q.json"


def test_json_has_the_contract_keys_and_the_fate():
    told = page.to_json("q.json", [Decided(ENTRY, Fate.HEALED, "enough passes")])
    assert told["decisions"] == [{**page.row(ENTRY), "fate": "healed", "why": "enough passes"}]
