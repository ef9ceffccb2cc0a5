"""What is said at the end of a session, from what was kept of each attempt."""

from __future__ import annotations

from gpu_guard.recorder.leaks import Leak
from gpu_guard.recorder.summary import Passage, gib, leak_lines, left_in
from gpu_guard.recorder.tensors import Listed

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


def test_what_holds_a_leak_is_named_first_and_its_size_told_as_people_read_it():
    cache = Listed([59_507_081_216], "torch.bfloat16", 119_014_162_432, "test_a.KEPT['cache']")
    small = Listed([2, 3], "torch.float32", 24, "")
    line = {"holders": [{"pid": 7, "name": "VLLM::EngineCore", "bytes": 1}]}
    assert left_in(None, line) == []
    assert left_in(Leak(cache.size, (cache,), ()), line) == [
        "test_a.KEPT['cache'] (110.8 GiB, 59,507,081,216 bfloat16)"
    ]
    assert left_in(Leak(1, (cache._replace(referrer=""), small), (7, 8), unlisted=True), line) == [
        "VLLM::EngineCore (pid 7)",
        "process (pid 8)",
        "a process that the driver does not list",
        "a tensor (110.8 GiB, 59,507,081,216 bfloat16) and others",
    ]
