"""What is said at the end of a session, from what was kept of each attempt."""

from __future__ import annotations

from gpu_guard.recorder.summary import Passage, gib, leak_lines

GIB = 2**30


def passages(free_gib: list[float], leaks_gib: dict[int, float], pid: int = 1) -> list[Passage]:
    return [
        Passage(f"t_{place}", pid, place, (int(free * GIB),), int(leaks_gib.get(place, 0) * GIB), ())
        for place, free in enumerate(free_gib)
    ]  # fmt: skip


def test_the_tests_that_had_less_are_counted_from_the_next_on():
    found = leak_lines(passages([22, 22, *[10.9] * 9], {1: 10.9}))
    assert found == ["t_1 left 10.9 GiB; the next nine tests started with 11.1 GiB less"]


def test_counting_stops_where_the_memory_was_back():
    assert leak_lines(passages([22, 11, 11, 22, 22], {0: 11}))[0].endswith(
        "the next two tests started with 11.0 GiB less"
    )


def test_one_test_is_one_test():
    assert leak_lines(passages([22, 11, 22], {0: 11}))[0].endswith("; the next test started with 11.0 GiB less")


def test_a_leak_that_went_away_at_once_is_said_to():
    assert leak_lines(passages([22, 22], {0: 11})) == ["t_0 left 11.0 GiB; it was back when the next test started"]


def test_the_last_test_has_no_victims():
    assert leak_lines(passages([22], {0: 11})) == ["t_0 left 11.0 GiB"]


def test_the_worst_comes_first_and_other_processes_do_not_count():
    mixed = [*passages([22, 20], {0: 2}, pid=1), *passages([22, 17], {0: 5}, pid=2)]
    assert [sentence.split()[2] for sentence in leak_lines(mixed)] == ["5.0", "2.0"]
    assert all("the next test " in sentence for sentence in leak_lines(mixed))


def test_small_sizes_are_told_in_mebibytes():
    assert gib(200 * 2**20) == "200 MiB"
