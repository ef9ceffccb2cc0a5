"""Messages as public threads show them: every text of the free-memory family and its kin, in the dress of its place."""

from __future__ import annotations

import tomllib
from pathlib import Path
from random import Random

import pytest

from bench.log_texts import chatter

FIXTURE = Path(__file__).parent.parent / "fixtures" / "classify" / "seen.toml"
SEEN = tomllib.loads(FIXTURE.read_text(encoding="utf-8"))["seen"]


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: seen["where"])
def test_a_message_is_understood_as_the_fixture_says(search, seen):
    expected = [(seen["signature"], seen["captures"])] if "signature" in seen else []
    assert [(match.signature.name, match.captures) for match in search(seen["log"].encode())] == expected


def test_every_row_is_silent_on_the_chatter_of_green_jobs(search):
    lines = list(chatter(Random(7), 20_000))
    assert [(match.signature.name, match.text) for match in search("\n".join(lines).encode())] == []
