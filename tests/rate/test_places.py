"""The order of builds follows numbers, whatever the clock said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from flake_report.model.evidence import Build
from flake_report.rate.places import key, places

MONDAY = datetime(2026, 11, 2, tzinfo=UTC)


def build(name: str, number: int | None, hours: int, pipeline: str = "ci") -> Build:
    return Build("acme", pipeline, name, number, "c", "main", "", MONDAY + timedelta(hours=hours), "passed")


def order(*builds: Build) -> list[str]:
    placed = places(builds)
    assert sorted(placed.values()) == list(range(len(builds)))
    return [each.key for each in sorted(builds, key=lambda each: placed[key(each)])]


def test_numbers_order_the_builds_of_a_pipeline_as_numbers() -> None:
    assert order(build("ten", 10, 5), build("nine", 9, 4), build("hundred", 100, 6)) == ["nine", "ten", "hundred"]


def test_a_wrong_clock_does_not_turn_numbers_round() -> None:
    assert order(build("1", 1, 1), build("2", 2, 99), build("3", 3, 3), build("4", 4, 4)) == ["1", "2", "3", "4"]


def test_builds_without_a_number_are_ordered_by_time() -> None:
    assert order(build("b", None, 2), build("a", None, 3), build("c", None, 1)) == ["c", "b", "a"]


def test_pipelines_are_merged_by_time() -> None:
    nightly = build("n", 7, 2, "nightly")
    assert order(build("1", 500, 1), build("2", 501, 3), nightly) == ["1", "n", "2"]


@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.integers(0, 9), st.sampled_from(["ci", "nightly"])),
        unique_by=lambda each: (each[0], each[2]) if each[0] is not None else object(),
    )
)
def test_in_any_history_numbers_of_a_pipeline_rise_with_the_place(made) -> None:
    builds = [build(str(at), number, hours, pipeline) for at, (number, hours, pipeline) in enumerate(made)]
    placed = places(builds)
    for pipeline in ("ci", "nightly"):
        numbered = sorted(
            (each for each in builds if each.pipeline == pipeline and each.number is not None),
            key=lambda each: placed[key(each)],
        )
        assert [each.number for each in numbered] == sorted(each.number or 0 for each in numbered)
