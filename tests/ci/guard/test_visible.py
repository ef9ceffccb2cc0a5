"""Which devices a choice leaves: CUDA's answers are those of two H200 under driver 580, asked by cuDeviceGetUuid."""

from __future__ import annotations

import pytest

from gpu_guard.memory.visible import Candidate, nvidia_visible, order_is_unsure

ONE = "GPU-29bc0c1a-cc20-cec6-b483-6eb3f8bd58db"
TWO = "GPU-e399a69d-f66b-9005-e726-a222b00d6444"
PAIR = [Candidate(0, ONE, name="NVIDIA H200"), Candidate(1, TWO, name="NVIDIA H200")]

SEEN = {
    None: [ONE, TWO],
    "": [],
    "0": [ONE],
    "1": [TWO],
    "0,1": [ONE, TWO],
    "1,0": [TWO, ONE],
    "0,0": [],
    "1,0,1": [],
    "-1": [],
    "0,-1,1": [ONE],
    "0,9,1": [ONE],
    "9": [],
    "0,,1": [ONE],
    ",0": [],
    " 0 , 1 ": [ONE, TWO],
    "0gpu": [ONE],
    "1gpu2,0": [TWO, ONE],
    "a": [],
    "0,a,1": [ONE],
    ONE: [ONE],
    TWO: [TWO],
    ONE[:8]: [ONE],
    ONE[:5]: [ONE],
    "GPU-": [],
    f"{ONE},{ONE}": [],
    f"{ONE},0": [ONE],
    f"0,{TWO}": [ONE],
    f"{TWO},{ONE}": [TWO, ONE],
    "NoDevFiles": [],
    "none": [],
    "all": [],
    "void": [],
    "0x1": [ONE],
    "+1": [TWO],
    "01": [TWO],
    "MIG-x": [],
    ONE.upper(): [ONE],
    ONE[4:]: [],
    f"{ONE},bad,{TWO}": [ONE],
    f"{ONE[:8]},{ONE}": [],
    "GPU-,1": [],
}


def uuids(candidates, **environ):
    return [candidate.uuid for candidate in nvidia_visible(candidates, environ)]


@pytest.mark.parametrize(("text", "expected"), SEEN.items(), ids=[repr(text) for text in SEEN])
def test_a_choice_leaves_what_the_driver_left(text, expected):
    assert uuids(PAIR, **({} if text is None else {"CUDA_VISIBLE_DEVICES": text})) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("all", [ONE, TWO]),
        ("", [ONE, TWO]),
        ("none", []),
        ("void", [ONE, TWO]),
        (TWO, [TWO]),
        (f"{TWO},{ONE}", [ONE, TWO]),
        ("GPU-of-another-host", [ONE, TWO]),
        ("1", [TWO]),
        ("0,1", [ONE, TWO]),
        ("3,5", [ONE, TWO]),
        ("1,1", [TWO]),
    ],
    ids=[
        "all", "empty says nothing", "none", "void is said by CDI, which gives devices nevertheless", "one uuid",
        "a container shows them in the driver's order", "uuids of elsewhere", "a number on the host",
        "as many numbers as devices", "numbers of the host, read inside the container", "a number twice",
    ],
)  # fmt: skip
def test_what_a_container_is_given_counts_where_cuda_itself_is_told_nothing(given, expected):
    assert uuids(PAIR, NVIDIA_VISIBLE_DEVICES=given) == expected


def test_cudas_own_variable_stands_before_the_containers():
    assert uuids(PAIR, NVIDIA_VISIBLE_DEVICES=ONE, CUDA_VISIBLE_DEVICES="1") == [TWO]


def test_of_a_uuid_there_must_be_something_even_where_one_card_is_alone():
    assert uuids(PAIR[:1], CUDA_VISIBLE_DEVICES="GPU-") == []
    assert uuids(PAIR[:1], CUDA_VISIBLE_DEVICES="GPU-2") == [ONE]


CUT = [
    Candidate(0, "GPU-a", whole=False),
    Candidate(0, "MIG-1", slice_of="GPU-a"),
    Candidate(0, "MIG-2", slice_of="GPU-a"),
]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ["MIG-1"]),
        ({"CUDA_VISIBLE_DEVICES": "MIG-2"}, ["MIG-2"]),
        ({"CUDA_VISIBLE_DEVICES": "MIG-"}, []),
        ({"CUDA_VISIBLE_DEVICES": "GPU-a"}, ["MIG-1"]),
        ({"CUDA_VISIBLE_DEVICES": "0"}, ["MIG-1"]),
        ({"NVIDIA_VISIBLE_DEVICES": "MIG-2"}, ["MIG-2"]),
        ({"NVIDIA_VISIBLE_DEVICES": "MIG-2,MIG-1"}, ["MIG-1"]),
        ({"NVIDIA_VISIBLE_DEVICES": "all"}, ["MIG-1"]),
    ],
)
def test_slices_are_chosen_by_uuid_and_one_process_has_one(environ, expected):
    assert uuids(CUT, **environ) == expected


MIXED = [Candidate(0, "GPU-a", name="NVIDIA L4"), Candidate(1, "GPU-b", name="NVIDIA H200")]


@pytest.mark.parametrize(
    ("candidates", "environ", "unsure"),
    [
        (PAIR, {}, False),
        (MIXED, {}, True),
        (MIXED, {"CUDA_VISIBLE_DEVICES": "0"}, True),
        (MIXED, {"CUDA_VISIBLE_DEVICES": "GPU-a"}, False),
        (MIXED, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, False),
        (MIXED, {"CUDA_DEVICE_ORDER": "FASTEST_FIRST", "CUDA_VISIBLE_DEVICES": "1"}, True),
    ],
)
def test_numbers_are_unsure_where_the_fastest_comes_first(candidates, environ, unsure):
    assert order_is_unsure(candidates, environ) is unsure
