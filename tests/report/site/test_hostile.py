"""Names and messages from strangers stay text, wherever the page shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from flake_report.report.site.plain import LONGEST, breakable, plain, script_json, web

HOSTILE = [
    "<script>window.caught = 1</script>",
    "</script><script>window.caught = 1</script>",
    "<img src=x onerror='window.caught = 1'>",
    '"><svg onload=window.caught=1>',
    "javascript:window.caught=1",
    "{{ 7 * 7 }}{% raw %}",
    "<!--<script>",
    "]]>&lt;b&gt;",
    "\u202etset\u202c\u2066hidden\u2069",
    "lone \ud800 surrogate\x00\x1b[31m",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_and_message_act_nowhere(
    text: str, visit: Callable[..., Any], made: Callable[..., Path], told: Callable[..., Any]
) -> None:
    one = told(text, text, signature=text)
    variant = one.rate.variant._replace(step=text, queue=text, session=text)
    folder = made(replace(one, rate=one.rate._replace(variant=variant, reason=text, owner=text)))
    page = visit(folder).page
    name = page.locator("#tests tbody bdi").first
    assert name.text_content() == f"v1.test_x::{plain(text)}"
    name.click()
    page.wait_for_selector("#own h2")
    assert page.locator("#own h2").text_content() == f"v1.test_x::{plain(text)}"
    assert page.evaluate("window.caught") is None
    scheme = "all => all.map(one => one.getAttribute('href')).filter(one => !/^(#|https:)/.test(one))"
    assert page.locator("a").evaluate_all(scheme) == []
    assert page.locator("script").count() == 5
    for unseen in ("\u202e", "\u2066", "\x00", "\x1b"):
        assert unseen not in page.content()


def test_ten_megabytes_of_message_leave_the_page_small(made: Callable[..., Path], told: Callable[..., Any]) -> None:
    folder = made(told("test_a", "x" * 10_000_000), told("y" * 10_000_000))
    assert (folder / "index.html").stat().st_size < 150_000


def test_what_turns_or_hides_text_is_spelt_out() -> None:
    assert plain("a\u202eb\x00c") == r"a\u202eb\x00c"
    assert plain("z" * 500) == "z" * LONGEST + "…"


@given(st.text())
def test_plain_text_is_bounded_and_can_be_encoded(text: str) -> None:
    shown = plain(text)
    assert len(shown) <= (LONGEST + 1) * len(r"\u10ffff")
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert plain(shown[:LONGEST]) == shown[:LONGEST]


@given(st.text())
def test_json_in_a_script_never_ends_it(text: str) -> None:
    import json

    inside = script_json({"a": text})
    assert not set(inside) & set("<>&\u2028\u2029")
    assert json.loads(inside) == {"a": text}


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://buildkite.com/a/b/builds/1#x", True),
        ("http://ci.example/1", True),
        ("javascript:alert(1)", False),
        ("JAVASCRIPT:alert(1)//https://x", False),
        ("data:text/html,x", False),
        ("//example.org", False),
        ("https://a b", False),
        ("https://a\nb", False),
        (None, False),
    ],
    ids=str,
)
def test_only_addresses_of_the_web_are_linked(url: str | None, linked: bool) -> None:  # noqa: FBT001  # a parameter
    assert web(url) == (url if linked else "")


def test_a_long_name_breaks_where_its_parts_begin() -> None:
    assert breakable("v1.a::test_<b>") == Markup("v1.a::<wbr>test_&lt;b&gt;")
    assert breakable("<alone>") == Markup("&lt;alone&gt;")
