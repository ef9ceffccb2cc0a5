"""What is seen of the cards by nvidia-smi, where the driver's library is not: by one that answers, and by others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpu_guard.memory import DeviceReading, Holder, query
from gpu_guard.memory.query import QueryMeter
from gpu_guard.memory.smi import SmiUnusableError, parse_row
from gpu_guard.probe import take

MIB = 2**20

SMI = """#!/bin/sh
case "$*" in
*compute-apps*) echo "GPU-bbbb, {pid}, 3072, /usr/bin/python3" ;;
{more}
*query-gpu*) echo "0, GPU-aaaa, NVIDIA L4, 23034, 0, 22500{reserved}"
             echo "1, GPU-bbbb, NVIDIA L4, 23034, 3072, 19428{reserved}" ;;
esac
"""


@pytest.fixture
def smi(tmp_path):
    """A PATH whose nvidia-smi answers as the real one does."""

    def make(more: str = "", reserved: str = ", 534") -> dict[str, str]:
        script = tmp_path / "nvidia-smi"
        script.write_text(SMI.format(pid=os.getpid(), more=more, reserved=reserved))
        script.chmod(0o755)
        return {"PATH": f"{tmp_path}:{os.environ['PATH']}"}

    return make


def test_one_nvidia_smi_gives_the_cards_and_their_holders(smi):
    meter = QueryMeter({**smi(), "CUDA_VISIBLE_DEVICES": "1"})
    assert [(device.uuid, device.total_bytes) for device in meter.devices] == [("GPU-bbbb", 22500 * MIB)]
    snapshot = take(meter)
    assert snapshot.reading.devices == (
        DeviceReading(19428 * MIB, 22500 * MIB, 3072 * MIB, (Holder(os.getpid(), "python3", 3072 * MIB),)),
    )


def test_an_older_nvidia_smi_knows_no_reserved_memory(smi):
    meter = QueryMeter(smi("*reserved*) echo 'not a valid field to query'; exit 2 ;;", reserved=""))
    assert [device.total_bytes for device in meter.devices] == [23034 * MIB] * 2


def test_a_failing_nvidia_smi_is_no_source_and_one_that_fails_later_gives_no_reading(smi):
    with pytest.raises(SmiUnusableError, match="shows no device"):
        QueryMeter(smi("*query-gpu*) echo 'couldn't communicate with the driver'; exit 9 ;;".replace("'t", "t")))
    meter = QueryMeter(smi())
    smi("*query-gpu*) exit 15 ;;")
    assert take(meter) is None


@pytest.mark.parametrize(
    "row",
    [
        "0, GPU-a, L4, \u00b22, 0, 22",
        f"0, GPU-a, L4, 1{'0' * 5000}, 0, 22",
        f"1{'0' * 5000}, GPU-a, L4, 22, 0, 22",
        "0, GPU-a, L4, 22, 0, -3",
        "0, GPU-a, L4, 0, 0, 0",
        "0, GPU-a, L4, 22, 0, 22, 50",
        "0, GPU-a, L4, nan, 0, inf",
    ],
    ids=["superscript", "huge", "huge index", "negative", "no memory at all", "more reserved than there is", "words"],
)
def test_a_row_with_figures_that_no_card_has_is_none(row):
    assert parse_row(row) is None


def test_names_of_processes_may_hold_any_bytes(smi):
    more = "*never*) ;;\n*apps*) printf 'GPU-bbbb, 7, 3072, /usr/\\377\\376 x\\n' ;;"
    environ = smi(more)
    script = Path(environ["PATH"].partition(":")[0], "nvidia-smi")
    script.write_text(script.read_text().replace("*compute-apps*)", "*not-asked*)"))
    (_, second) = take(QueryMeter(environ)).reading.devices
    assert second.holders == (Holder(7, "\ufffd\ufffd x", 3072 * MIB),)


def test_an_nvidia_smi_that_hangs_is_a_driver_that_fails_and_not_a_machine_without_a_gpu(smi, monkeypatch):
    monkeypatch.setattr(query, "PATIENCE", 0.2)
    environ = smi("*query-gpu*) exec sleep 30 ;;")
    with pytest.raises(SmiUnusableError, match="nvidia-smi says nothing within") as caught:
        QueryMeter(environ)
    assert caught.value.hangs
    smi()
    meter = QueryMeter(environ)
    smi("*query-gpu*) exec sleep 30 ;;")
    assert take(meter) is None


def test_without_the_library_one_nvidia_smi_serves_the_whole_check(smi, bare):
    smi()
    done = bare.guard("check", "--utilization", "0.3", PATH=f"{bare.state.parent}:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert "cuda:1 has 18.97 of 21.97 GiB free" in done.stderr


def test_a_check_whose_nvidia_smi_hangs_may_be_tried_again_elsewhere(smi, bare):
    """The limit of ten seconds is nvidia-smi's own here: nothing is stood in for."""
    smi("*query-gpu*) exec sleep 30 ;;")
    done = bare.guard("check", "--utilization", "0.3", PATH=f"{bare.state.parent}:/usr/bin:/bin")
    assert done.returncode == 75, done.stderr
    assert "nvidia-smi says nothing within 10 s" in done.stderr
    assert "the driver is there and fails; another agent may do" in done.stderr
