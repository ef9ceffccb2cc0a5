"""The recorder's memory as samples: which there are, of which device, by which name of the test."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.model.record import MemorySample, SampleMoment
from flake_report.model.results import Attempt, DeviceMemory, Holder, Outcome
from flake_report.parse.gpulines import readings
from flake_report.parse.samples import samples_of
from flake_report.parse.testid import file_of_nodeid, from_nodeid

BEFORE, AFTER = SampleMoment.BEFORE, SampleMoment.AFTER
START, END = datetime(2026, 4, 15, 18, 40, 10, tzinfo=UTC), datetime(2026, 4, 15, 18, 40, 41, tzinfo=UTC)
NODEID = "tests/v1/x.py::TestA::test_b[a/b::1]"
ENGINE = Holder(738, "VLLM::EngineCore", 17)
WORDS = st.from_regex(r"[a-zA-Z_]\w{0,6}", fullmatch=True)


def attempt(*memory: DeviceMemory, nodeid: str = NODEID, holders: tuple[Holder, ...] = ()) -> Attempt:
    return Attempt(from_nodeid(nodeid), Outcome.FAILED, file=file_of_nodeid(nodeid), memory=memory, holders=holders)


def test_a_device_is_sampled_before_and_after_with_what_holds_it() -> None:
    one = DeviceMemory("cuda:0", START, END, 20, 4, 2, 18, 0, 11, 10, total=22)
    assert list(samples_of([attempt(one, holders=(ENGINE,))])) == [
        MemorySample(START, "cuda:0", BEFORE, free=20, total=22, used=2, torch_reserved=0, test=NODEID),
        MemorySample(
            END, "cuda:0", AFTER, free=4, total=22, used=18, torch_reserved=11, holders=(ENGINE,), test=NODEID
        ),
    ]


def test_a_test_that_crashed_has_no_sample_after_it() -> None:
    [sample] = samples_of([attempt(DeviceMemory("cuda:0", START, free_before=20))])
    assert (sample.when, sample.free, sample.used) == (BEFORE, 20, None)


def test_holders_of_several_devices_are_of_no_known_device() -> None:
    pair = [DeviceMemory(f"cuda:{n}", START, END, free_before=20, free_after=4) for n in (0, 1)]
    told = [(one.device, one.when, one.at, one.holders) for one in samples_of([attempt(*pair, holders=(ENGINE,))])]
    assert told == [
        ("cuda:0", BEFORE, START, ()),
        ("cuda:0", AFTER, END, ()),
        ("cuda:1", BEFORE, START, ()),
        ("cuda:1", AFTER, END, ()),
        ("", AFTER, END, (ENGINE,)),
    ]


def test_what_was_not_measured_makes_no_sample() -> None:
    assert list(samples_of([attempt(), attempt(DeviceMemory("cuda:0", START, END, total=22))])) == []


def test_zero_is_measured() -> None:
    assert [one.free for one in samples_of([attempt(DeviceMemory("cuda:0", free_before=0))])] == [0]


def test_holders_without_a_reading_are_kept() -> None:
    assert [(one.device, one.at, one.holders) for one in samples_of([attempt(holders=(ENGINE,))])] == [
        ("", None, (ENGINE,))
    ]


def test_one_device_has_one_name_in_log_and_attempts_file() -> None:
    refused = (
        "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory "
        "utilization (0.47, 10.36 GiB)."
    )
    [printed] = readings(refused)
    [recorded] = samples_of([attempt(DeviceMemory("cuda:0", free_before=4842575790))])
    assert recorded.device == printed.device


@pytest.mark.parametrize("nodeid", ["tests/x.py", "a.py::test_b", "docs/use.md::use.md"])
def test_a_test_has_its_node_id(nodeid: str) -> None:
    [sample] = samples_of([attempt(DeviceMemory("cuda:0", free_before=1), nodeid=nodeid)])
    assert sample.test == nodeid


@given(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, min_size=1, max_size=3), st.text("a/:.[1-", max_size=6))
def test_every_test_keeps_its_node_id(folders: list[str], names: list[str], parameters: str) -> None:
    nodeid = "::".join(["/".join(folders) + ".py", *names]) + f"[{parameters}]"
    [sample] = samples_of([attempt(DeviceMemory("cuda:0", free_before=1), nodeid=nodeid)])
    assert sample.test == nodeid
