"""No path that a job uploads may leave the artifacts' folder, nor lie where another lies."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flake_report.collect.stored_names import is_folder_name, is_inside, stored_names

PARTS = st.sampled_from(["..", ".", "", "a", "A", "b.xml", "x.zst", "~", "c:", "é", "\ud800", "\0", "\\", "y" * 300])
PATHS = st.lists(PARTS, min_size=1, max_size=8).map("/".join) | st.text(max_size=40)


@pytest.mark.parametrize(
    "path", ["junit.xml", "test-results/kv/junit (1).xml", "résultats/тест.xml", ".hidden/a[1].xml"]
)
def test_a_harmless_path_is_kept(path: str) -> None:
    assert stored_names([(path, "id")]) == [path]


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "a/../../b",
        "C:\\Windows\\x",
        "a\0b",
        "a//b",
        "./a",
        "",
        "..",
        "a\nb",
        "x.zst/y",
    ],
)
def test_any_other_path_is_made_harmless_and_marked(path: str) -> None:
    [name] = stored_names([(path, "id")])
    assert is_inside(name)
    assert name != path
    assert "~" in name


def test_two_uploads_under_one_path_lie_side_by_side() -> None:
    first, second = stored_names([("junit.xml", "id-1"), ("junit.xml", "id-2")])
    assert first == "junit.xml"
    assert second.startswith("junit.xml~")


def test_paths_that_differ_in_case_alone_lie_side_by_side() -> None:
    names = stored_names([("Report.xml", "id-1"), ("report.xml", "id-2")])
    assert len({name.lower() for name in names}) == 2


@given(st.lists(st.tuples(PATHS, st.uuids().map(str)), max_size=12))
@example([("a", "1"), ("a.zst/b", "2"), ("A", "3"), ("a", "4")])
def test_no_path_leaves_the_folder_or_meets_another(artifacts: list[tuple[str, str]]) -> None:
    names = stored_names(artifacts)
    assert len(names) == len(artifacts)
    assert len({name.lower() for name in names}) == len(names)
    files = {f"{name}.zst" for name in names}
    folders = {str(parent) for name in names for parent in PurePosixPath(name).parents} - {"."}
    assert not files & folders
    for name in names:
        assert is_inside(name)
        assert len(name) < 1_000
        assert all(0 < len(part.encode()) <= 251 for part in name.split("/"))


@pytest.mark.parametrize("name", ["", "/a", "..", "a/../b", "a/..", "a\0"])
def test_a_listed_name_that_leads_outside_is_seen(name: str) -> None:
    assert not is_inside(name)


@pytest.mark.parametrize(
    ("name", "fits"),
    [("vllm", True), ("ci-infra_2.0", True), ("0196a0f3-aaaa-4000", True), ("", False), ("..", False), (".git", False),
     ("a/b", False), ("a b", False), ("x" * 201, False)],
)  # fmt: skip
def test_only_plain_slugs_and_ids_name_folders(name: str, fits: bool) -> None:  # noqa: FBT001  # pytest fills it in
    assert is_folder_name(name) is fits
