"""The Link header, as RFC 8288 allows it and as Buildkite's documentation shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from requests.utils import parse_header_links

from flake_report.collect.links import next_query, query_of

DOCUMENTED = (
    '<https://api.buildkite.com/v2/organizations/o/pipelines/p/builds?api_key=f858&page=3>; rel="next", '
    '<https://api.buildkite.com/v2/organizations/o/pipelines/p/builds?api_key=f858&page=6>; rel="last"'
)


@pytest.mark.parametrize(
    ("header", "query"),
    [
        (DOCUMENTED, "api_key=f858&page=3"),
        ("<https://x/?page=2>; rel=next", "page=2"),
        ('<https://x/?page=2>;rel="NEXT"', "page=2"),
        ('<https://x/?page=1>; rel="prev", <https://x/?page=3>; title="a, b; c"; rel="next"', "page=3"),
        ('<https://x/?page=2>; rel="start next"', "page=2"),
        ("<?page=2>; rel=next", "page=2"),
        ("<https://x/?branch=a,b;c&page=2>; rel=next", "branch=a,b;c&page=2"),
        ('<https://x/?page=1>; rel="prev"', None),
        ('<https://x/?page=1>; rel="next-archive"', None),
        ("<https://x/>; rel=next", None),
        ("<https://[x/?page=2>; rel=next", None),
        ("", None),
        ("page=2; rel=next", None),
    ],
)
def test_the_query_of_the_next_page(header: str, query: str | None) -> None:
    assert next_query(header) == query


@given(
    st.lists(
        st.tuples(st.integers(0, 99), st.sampled_from(["next", "prev", "last"])), max_size=4, unique_by=lambda r: r[1]
    )
)
def test_a_header_reads_as_another_parser_reads_it(links: list[tuple[int, str]]) -> None:
    header = ", ".join(f'<https://x/builds?per_page=100&page={page}>; rel="{name}"' for page, name in links)
    others = {link["rel"]: link["url"] for link in parse_header_links(header)} if header else {}
    assert next_query(header) == query_of(others.get("next"))


@given(st.text(max_size=200))
def test_any_text_is_a_header_without_a_crash(text: str) -> None:
    assert next_query(text) is None or "<" in text


@pytest.mark.parametrize("value", [None, 3, "", "https://[x", "no query"])
def test_what_is_no_url_has_no_query(value: object) -> None:
    assert query_of(value) is None
