"""Captured text as values."""

from __future__ import annotations

import pytest

from flake_report.classify.captures import captured


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        pytest.param("waited_s", "60.05", 60.05, id="a fraction"),
        pytest.param("quota", "6000", 6000, id="an integer"),
        pytest.param("tokens", "1,547,554", 1547554, id="thousands with commas"),
        pytest.param("utilization", "1e-05", 1e-05, id="an exponent"),
        pytest.param("available", "-78.4", -78.4, id="a negative number"),
        pytest.param("device", "3", "3", id="a device is text"),
        pytest.param("devices", "0", "0", id="a list of devices is text"),
        pytest.param("module", "torch", "torch", id="a word"),
        pytest.param("free_gib", "4.51", 4.51, id="a size without a unit is in GiB"),
        pytest.param("free_gib", "512.00 MiB", 0.5, id="MiB"),
        pytest.param("free_gib", "2 TiB", 2048.0, id="TiB"),
        pytest.param("free_gib", "1048576 KiB", 1.0, id="KiB"),
        pytest.param("free_gib", "26229080064 bytes", 24.4277, id="bytes, rounded to four places"),
        pytest.param("free_gib", "0 bytes", 0.0, id="nothing"),
        pytest.param("free_gib", "much", "much", id="a size that is none stays text"),
    ],
)
def test_a_value_is_what_its_name_says(name, text, value):
    found = captured({name: text})
    assert found == {name: value}
    assert type(found[name]) is type(value)


def test_groups_that_took_no_part_are_absent():
    assert captured({"device": None, "free_gib": "", "total_gib": " "}) == {}


def test_holders_are_listed_with_their_sizes():
    text = (
        " Process 2627 has 129.51 GiB memory in use. Including non-PyTorch memory, this process has 836.00 MiB\n"
        "memory in use. Process 7 has 1.00 GiB memory in use."
    )
    assert captured({"holders": text}) == {"holders": "2627: 129.51 GiB; this process: 0.8164 GiB; 7: 1.0 GiB"}
