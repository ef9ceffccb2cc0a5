"""Memory after a job against before, and the note that tells of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpu_guard.hooks.growth import Growth, compare
from gpu_guard.hooks.note import note

GIB = 2**30


def snapshot(**free: float) -> dict:
    return {
        "devices": [
            {"index": index, "uuid": uuid, "free": round(size * GIB)} for index, (uuid, size) in enumerate(free.items())
        ]
    }


def test_what_is_no_longer_free_is_lost() -> None:
    (one,) = compare(snapshot(a=22), snapshot(a=11.1))
    assert one.sentence() == "cuda:0: 22.00 GiB free before the job, 11.10 after: 10.90 GiB stay in use"


def test_some_mib_and_what_became_free_are_no_loss() -> None:
    (less, more) = compare(snapshot(a=22, b=10), snapshot(a=21.8, b=20))
    assert (less.lost, more.lost) == (0, 0)
    assert less.sentence() == "cuda:0: 22.00 GiB free before the job, 21.80 after"


def test_devices_are_matched_by_what_they_are_not_by_their_place() -> None:
    both = compare(snapshot(a=20, b=10), snapshot(b=1, a=20))
    assert [(one.name, one.lost) for one in both] == [("cuda:0", 0), ("cuda:1", 9 * GIB)]


def test_a_device_that_is_gone_and_a_snapshot_that_never_was_are_compared_with_nothing() -> None:
    assert compare(snapshot(a=20), snapshot(b=1)) == []
    assert compare(None, snapshot(a=1)) == compare(snapshot(a=1), None) == []


def test_the_note_has_a_row_a_device_and_a_line_a_process() -> None:
    said = note([Growth("cuda:0", 22 * GIB, 11 * GIB)], {"BUILDKITE_AGENT_NAME": "gpu-7"}, ["VLLM::EngineCor (pid 7)"])
    assert "on `gpu-7`" in said
    assert "| cuda:0 | 22.00 GiB | 11.00 GiB | 11.00 GiB |" in said
    assert said.endswith("\n- VLLM::EngineCor (pid 7)\n")
    assert "neighbour" not in said


def test_without_a_process_of_the_job_the_note_accuses_nobody() -> None:
    said = note([Growth("cuda:0", 22 * GIB, 11 * GIB)], {}, [], ["cuda:0 is held by pid 9 x (11.00 GiB)"])
    assert "No process of this job is seen: a container of it, or a neighbour on the card, may hold it." in said
    assert said.endswith("\n- cuda:0 is held by pid 9 x (11.00 GiB)\n")


@given(st.text(max_size=20))
def test_a_name_from_outside_can_neither_end_its_line_nor_mean_anything(text: str) -> None:
    said = note([Growth("cuda:0", GIB, 0)], {"BUILDKITE_AGENT_NAME": text}, [text])
    plain = note([Growth("cuda:0", GIB, 0)], {"BUILDKITE_AGENT_NAME": "x"}, ["x"])
    assert said.count("\n") <= plain.count("\n")
    assert not set(said) - set("*`|") & set("<>[]")
    assert said.count("`") in (0, 2)
