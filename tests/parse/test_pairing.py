"""Sessions of two sources paired: by hand, and as trying every pairing would have it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.model.results import TestId
from flake_report.parse.pairing import Told, pairs


def told(key: str = "", good: str = "", bad: str = "", unclear: str = "", count: int | None = None) -> Told:
    """Each letter is a test."""
    ends = dict.fromkeys(good, False) | dict.fromkeys(bad, True) | dict.fromkeys(unclear)
    return Told(key, {TestId("c", name): end for name, end in ends.items()}, count)


@pytest.mark.parametrize(
    ("logged", "one"),
    [
        (told("$X", good="abcd"), True),
        (told("$X", good="abc"), True),  # the rest was lost
        (told("$X", good="abcdefgh"), True),  # the recorder died
        (told("$X", good="abcxyz"), True),
        (told("$X", good="abxy"), False),  # half is not most
        (told("k", good="wxyz"), False),
        (told("$X", good="abc", bad="d"), True),  # one word misread
        (told("$X", bad="d"), False),  # a quiet log of another run
        (told("$X", unclear="abcd"), True),
        (told("$X", count=4), True),
        (told("$X", count=5), False),
        (told("k", count=5), True),
        (told("$X"), True),  # nothing is told but that there is one here and one there
    ],
)
def test_sessions_that_share_most_of_their_tests_and_ends_are_one(logged: Told, one: bool) -> None:  # noqa: FBT001 - a table's column
    assert pairs([told("k", good="abcd")], [logged]) == ({0: 0} if one else {})


def test_equal_sessions_are_paired_in_order() -> None:
    same = told("k", good="ab")
    assert pairs([same, same], [same, same]) == {0: 0, 1: 1}


def test_the_key_settles_which_of_two_equal_sessions_was_recorded() -> None:
    assert pairs([told("k", good="ab")], [told("$X", good="ab"), told("k", good="ab")]) == {0: 1}


def test_an_end_settles_it_against_the_key() -> None:
    assert pairs([told("k", good="abc")], [told("k", good="ab", bad="c"), told("$X", good="abc")]) == {0: 1}


def test_a_session_that_the_log_lacks_shifts_no_other() -> None:
    assert pairs([told(good="ab"), told(good="cd"), told(good="ef")], [told(good="ab"), told(good="ef")]) == {
        0: 0,
        2: 1,
    }


def test_without_sessions_there_are_no_pairs() -> None:
    assert pairs([], [told(good="a")]) == pairs([told(good="a")], []) == {}


_SETS = st.lists(st.sets(st.sampled_from("abc"), min_size=1).map(lambda names: told(good="".join(names))), max_size=4)


def _most(ours: list[Told], theirs: list[Told]) -> int:
    """The most pairs that do not cross, by trying all."""
    if not ours or not theirs:
        return 0
    shared = len(ours[0].bad.keys() & theirs[0].bad.keys())
    fits = shared * 2 > min(len(ours[0].bad), len(theirs[0].bad))
    return max(_most(ours[1:], theirs), _most(ours, theirs[1:]), 1 + _most(ours[1:], theirs[1:]) if fits else 0)


@given(_SETS, _SETS)
def test_as_many_are_paired_as_can_be_and_no_two_pairs_cross(ours: list[Told], theirs: list[Told]) -> None:
    found = pairs(ours, theirs)
    assert len(found) == _most(ours, theirs)
    assert list(found) == sorted(found)
    assert list(found.values()) == sorted(set(found.values()))
