"""Text of strangers in Markdown, rendered by a second program: it comes out as text."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from flake_report.model.words import one_line, spelt
from flake_report.report.markdown import SHOWN, code, fitted, link, plain

RENDER = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render
TAG = re.compile(r"<[a-z/!][^>]*>")
HOSTILE = [
    "<script>alert(1)</script>", "</code></details>", "[x](javascript:alert(1))", "![x](http://e.vil/x.png)", "`a` ``",
    "| a | b |", "**a** __b__ _c_ ~~d~~ test_a_b[1]", "&lt;b&gt; &#60;", "# h", "- [ ] x", "1. x", "---",
    "https://e.vil www.e.vil a@e.vil",
    "@team #123 :boom: $x$", "a\n\n> b\n\n<img src=x onerror=y>", "\u202eabc\x1b[31m", "\\`\\<b>",
    "<!-- x", "<![CDATA[x",
]  # fmt: skip


def text_of(rendered: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", rendered)).strip()


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize(
    "place", ["- {} · x", "| {} | x |", "<details><summary>{}</summary>"], ids=["item", "cell", "html"]
)
def test_hostile_text_stays_text_wherever_it_stands(hostile: str, place: str) -> None:
    head = "| a | b |\n|---|---|\n" if place.startswith("|") else ""
    for made, tame in ((code(hostile), code("X")), (plain(hostile), plain("X"))):
        rendered, expected = (RENDER(head + place.format(text) + "\n") for text in (made, tame))
        assert spelt(one_line(hostile)) in text_of(rendered)
        assert TAG.findall(rendered) == TAG.findall(expected)


@given(st.text(max_size=200))
def test_any_text_comes_out_as_it_went_in(text: str) -> None:
    rendered = RENDER(f"- {code(text)}\n")
    assert set(re.findall(r"<[^>]*>", rendered)) <= {"<ul>", "<li>", "<code>", "</code>", "</li>", "</ul>"}
    assert " ".join(text_of(rendered).split()) == " ".join(spelt(one_line(text)).split())


def test_a_message_of_megabytes_is_cut() -> None:
    assert len(html.unescape(code("x" * 10_000_000))) == SHOWN + len("<code></code>")


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "https://a) [x](javascript:y",
        "data:text/html,x",
        "https://a/?q=<b>",
        "#a b",
        "//a",
        "",
        None,
    ],
)
def test_what_is_no_address_of_the_web_is_no_link(address: str | None) -> None:
    assert link("job", address) == "job"


@pytest.mark.parametrize(
    "address", ["#0a-job", "https://buildkite.com/acme/ci/builds/7#0a-job", "http://ci.local:8080/x"]
)
def test_addresses_of_the_web_and_of_this_page_are_linked(address: str) -> None:
    assert link("job", address) == f"[job]({address})"


def test_what_has_no_room_is_counted_and_the_limit_holds_in_bytes() -> None:
    items = [f"- item {at} {'ü' * 40}" for at in range(1000)]
    for limit in (400, 2_000, 20_000):
        page = fitted("head", [("#### first", items), ("#### second", items)], "tail", limit, most=500)
        assert len(page.encode()) <= limit
        assert page.startswith("head\n")
        assert page.endswith("tail\n")
        shown = [len(re.findall(r"^- item", part, re.MULTILINE)) for part in page.split("#### second")]
        left = [int(found.replace(",", "")) for found in re.findall(r"^- … ([\d,]+) more$", page, re.MULTILINE)]
        assert [a + b for a, b in zip(shown, left, strict=True)] == [1000, 1000]


def test_a_section_without_items_is_not_there() -> None:
    assert fitted("head", [("#### first", [])], "tail", 1000, most=5) == "head\ntail\n"
