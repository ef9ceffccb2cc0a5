"""GPU memory from each source: the driver's library, a kept nvidia-smi, the kernel's files. No pytest takes part."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpu_guard.memory import Device, DeviceReading, Holder, open_meter
from gpu_guard.memory.amd import AmdMeter
from gpu_guard.memory.smi import SmiMeter, SmiUnusableError, parse_row

PLUGIN = Path(__file__).resolve().parents[3] / "ci" / "gpu-guard-buildkite-plugin"
MIB = 2**20
GIB = 2**30

READ = """
import json, sys
from gpu_guard.memory import open_meter
meter = open_meter()
reading = meter.read()
print(json.dumps({
    "source": meter.source,
    "devices": [[d.index, d.uuid, d.name, d.total_bytes] for d in meter.devices],
    "reading": [[d.free, d.total, d.used, d.holders] for d in reading.devices],
}))
meter.close()
"""


@pytest.fixture
def read(nvml_library, tmp_path):
    """What a fresh process reads of a driver in this state."""

    def ask(state: str, **env: str) -> dict:
        (tmp_path / "state").write_text(state)
        kept = {name: value for name, value in os.environ.items() if not name.endswith("VISIBLE_DEVICES")}
        fixed = {
            "LD_LIBRARY_PATH": str(nvml_library),
            "NVML_STUB_STATE": str(tmp_path / "state"),
            "PYTHONPATH": str(PLUGIN),
        }
        done = subprocess.run(
            [sys.executable, "-c", READ], env={**kept, **fixed, **env}, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    return ask


TWO = f"""gpu GPU-aaaa {20 * GIB} {GIB} 0
process {os.getpid()} {3 * GIB}
unlisted {2 * GIB}
gpu GPU-bbbb {10 * GIB} 0 0
"""


def test_the_library_gives_what_cuda_can_have_and_who_has_it(read):
    found = read(TWO)
    assert found["source"] == "nvml"
    assert found["devices"] == [[0, "GPU-aaaa", "Stub GPU", 19 * GIB], [1, "GPU-bbbb", "Stub GPU", 10 * GIB]]
    (free, total, used, holders), second = found["reading"]
    assert (free, total, used) == (14 * GIB, 19 * GIB, 5 * GIB)
    ((pid, name, size),) = holders
    assert (pid, size) == (os.getpid(), 3 * GIB)
    assert "py" in name
    assert second == [10 * GIB, 10 * GIB, 0, []]


def test_an_older_driver_counts_its_own_share_as_used(read):
    free, total, used, _ = read(TWO, NVML_STUB_OLD="1")["reading"][0]
    assert (free, total, used) == (14 * GIB, 20 * GIB, 6 * GIB)


def test_a_driver_that_lists_no_processes_says_so(read):
    assert read(f"gpu GPU-aaaa {GIB} 0 0\nnolist\n")["reading"][0][3] is None


MIG = f"""gpu GPU-aaaa {20 * GIB} 0 1
slice MIG-one {5 * GIB}
process 1 {GIB}
slice MIG-two {5 * GIB}
gpu GPU-bbbb {20 * GIB} 0 0
"""


@pytest.mark.parametrize(
    ("state", "environment", "uuids"),
    [
        (TWO, {"CUDA_VISIBLE_DEVICES": "1"}, ["GPU-bbbb"]),
        (TWO, {"CUDA_VISIBLE_DEVICES": "1,0"}, ["GPU-bbbb", "GPU-aaaa"]),
        (TWO, {"CUDA_VISIBLE_DEVICES": "GPU-bb"}, ["GPU-bbbb"]),
        (TWO, {"CUDA_VISIBLE_DEVICES": ""}, []),
        (TWO, {"CUDA_VISIBLE_DEVICES": "0,9,1"}, ["GPU-aaaa"]),
        (TWO, {"NVIDIA_VISIBLE_DEVICES": "all"}, ["GPU-aaaa", "GPU-bbbb"]),
        (MIG, {"CUDA_VISIBLE_DEVICES": "MIG-two"}, ["MIG-two"]),
        (MIG, {"NVIDIA_VISIBLE_DEVICES": "MIG-two"}, ["MIG-two"]),
        (MIG, {"CUDA_VISIBLE_DEVICES": "0"}, ["MIG-one"]),
        (MIG, {"CUDA_VISIBLE_DEVICES": "GPU-aaaa"}, ["MIG-one"]),
        (MIG, {"CUDA_VISIBLE_DEVICES": "1"}, ["GPU-bbbb"]),
        (MIG, {}, ["GPU-bbbb"]),
        (MIG.partition("gpu GPU-bbbb")[0], {}, ["MIG-one"]),
    ],
    ids=[
        "one by number", "the order counts", "the beginning of a uuid is enough", "none",
        "nothing after what is not there", "the container's word for all", "a slice by uuid",
        "a slice that the container was given", "a cut GPU is its first slice", "a cut GPU by uuid, too",
        "a whole GPU beside a cut one", "whole GPUs come first", "one slice where all are cut",
    ],
)  # fmt: skip
def test_the_devices_are_those_that_cuda_would_show(state, environment, uuids, read):
    assert [device[1] for device in read(state, **environment)["devices"]] == uuids


SMI = """#!/bin/sh
case "$*" in
*compute-apps*)
  echo "GPU-aaaa, {pid}, 3072, /usr/bin/python3, with a comma"
  echo "GPU-aaaa, 77, [N/A], VLLM::EngineCore"
  exit 0 ;;
{refuse}
esac
echo "$@" > {folder}/asked
n=0
while :; do
  n=$((n + 1))
  echo "0, GPU-aaaa, NVIDIA L4, 23034, $((n * 100)), $((22000 - n * 100)){reserved}"
  echo "1, GPU-bbbb, NVIDIA L4, 23034, 0, 22500{reserved}"
  sleep 0.05
done
"""


@pytest.fixture
def smi(tmp_path):
    """A PATH whose nvidia-smi prints growing numbers, in the format of the real one."""

    def make(refuse: str = "", reserved: str = ", 434") -> dict[str, str]:
        folder = tmp_path / "bin"
        folder.mkdir()
        script = folder / "nvidia-smi"
        script.write_text(SMI.format(pid=os.getpid(), folder=folder, refuse=refuse, reserved=reserved))
        script.chmod(0o755)
        return {"PATH": f"{folder}:{os.environ['PATH']}"}

    return make


def test_one_nvidia_smi_is_kept_and_read(smi):
    meter = SmiMeter(smi())
    try:
        assert meter.devices == (
            Device(0, "GPU-aaaa", "NVIDIA L4", 22600 * MIB), Device(1, "GPU-bbbb", "NVIDIA L4", 22600 * MIB)
        )  # fmt: skip
        before = time.perf_counter()
        first = meter.read()
        assert time.perf_counter() - before < 0.05
        assert first.devices[0].holders is None
        asked = time.time()
        careful = meter.read(careful=True)
        assert careful.at >= asked
        assert careful.devices[0].used > first.devices[0].used
        assert careful.devices[0].holders == (
            Holder(os.getpid(), "python3, with a comma", 3072 * MIB), Holder(77, "VLLM::EngineCore", None)
        )  # fmt: skip
        assert careful.devices[1] == DeviceReading(22500 * MIB, 22600 * MIB, 0, ())
    finally:
        meter.close()
    assert meter.read() is None


def test_an_older_nvidia_smi_that_knows_no_reserved_memory_serves_too(smi):
    meter = SmiMeter(
        smi(
            refuse="*reserved*) echo 'Field \"memory.reserved\" is not a valid field to query.'; exit 2 ;;", reserved=""
        )
    )
    meter.close()
    assert [device.total_bytes for device in meter.devices] == [23034 * MIB] * 2


def test_an_nvidia_smi_that_shows_nothing_is_no_source(smi):
    with pytest.raises(SmiUnusableError, match="shows no device"):
        SmiMeter(
            smi(refuse="*) echo 'NVIDIA-SMI has failed because it could not communicate with the driver.'; exit 9 ;;")
        )


def test_visible_devices_hold_for_nvidia_smi_too(smi):
    meter = SmiMeter({**smi(), "CUDA_VISIBLE_DEVICES": "GPU-bbbb"})
    try:
        assert [device.uuid for device in meter.devices] == ["GPU-bbbb"]
        assert [device.used for device in meter.read().devices] == [0]
    finally:
        meter.close()


@pytest.mark.parametrize(
    "line", ["", "0, GPU-a, L4, [N/A], [N/A], [N/A], 0", "No devices were found", "x, GPU-a, L4, 1, 2, 3, 4"]
)
def test_what_is_no_reading_is_none(line):
    assert parse_row(line) is None


@pytest.fixture
def sysfs(tmp_path):
    """Two AMD cards as the kernel shows them: ROCm counts the second PCI address first."""
    for number, (minor, unique, used) in enumerate([(129, 0xABCDEF, 5 * GIB), (128, 0x123456, 0)], 1):
        card = tmp_path / "devices" / f"0000:0{minor - 127}:00.0"
        card.mkdir(parents=True)
        for name, text in {
            "mem_info_vram_total": str(192 * GIB), "mem_info_vram_used": str(used), "unique_id": f"{unique:x}",
            "product_name": "AMD Instinct MI300X" if number == 1 else "", "device": "0x74a1",
        }.items():  # fmt: skip
            (card / name).write_text(text + "\n")
        for name in (f"renderD{minor}", f"card{minor - 128}"):
            (tmp_path / "class" / "drm" / name).mkdir(parents=True)
            (tmp_path / "class" / "drm" / name / "device").symlink_to(card)
        node = tmp_path / "class" / "kfd" / "kfd" / "topology" / "nodes" / str(number)
        node.mkdir(parents=True)
        (node / "gpu_id").write_text(f"{1000 + number}\n")
        (node / "properties").write_text(f"cpu_cores_count 0\ndrm_render_minor {minor}\nunique_id {unique}\n")
    cpu = tmp_path / "class" / "kfd" / "kfd" / "topology" / "nodes" / "0"
    cpu.mkdir()
    (cpu / "properties").write_text("cpu_cores_count 64\ndrm_render_minor 0\n")
    process = tmp_path / "class" / "kfd" / "kfd" / "proc" / str(os.getpid())
    process.mkdir(parents=True)
    (process / "vram_1001").write_text(str(4 * GIB))
    (process / "vram_1002").write_text("0")
    return tmp_path


def test_amd_cards_come_in_rocms_order_with_their_holders(sysfs):
    meter = AmdMeter({}, sysfs)
    assert meter.devices == (
        Device(0, "GPU-0000000000abcdef", "AMD Instinct MI300X", 192 * GIB),
        Device(1, "GPU-0000000000123456", "AMD GPU 0x74a1", 192 * GIB),
    )
    first, second = meter.read().devices
    assert (first.free, first.used) == (187 * GIB, 5 * GIB)
    ((pid, name, size),) = first.holders
    assert (pid, size) == (os.getpid(), 4 * GIB)
    assert name
    assert second.holders == ()


@pytest.mark.parametrize(
    ("environment", "first"),
    [
        ({"HIP_VISIBLE_DEVICES": "1"}, "GPU-0000000000123456"),
        ({"ROCR_VISIBLE_DEVICES": "1,0", "HIP_VISIBLE_DEVICES": "1"}, "GPU-0000000000abcdef"),
        ({"CUDA_VISIBLE_DEVICES": "1"}, "GPU-0000000000123456"),
        ({"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "1"}, "GPU-0000000000abcdef"),
        ({"ROCR_VISIBLE_DEVICES": "GPU-0000000000123456"}, "GPU-0000000000123456"),
    ],
    ids=["HIP's", "HIP counts what ROCR left", "CUDA's, which HIP reads", "HIP's before CUDA's", "by uuid"],
)
def test_visible_amd_devices_follow_rocms_variables(environment, first, sysfs):
    assert AmdMeter(environment, sysfs).devices[0].uuid == first


def test_amd_cards_go_by_address_where_the_compute_driver_is_not_seen(sysfs):
    (sysfs / "class" / "kfd").rename(sysfs / "class" / "elsewhere")
    meter = AmdMeter({}, sysfs)
    assert [device.uuid for device in meter.devices] == ["GPU-0000000000123456", "GPU-0000000000abcdef"]
    assert [device.holders for device in meter.read().devices] == [None, None]


def test_a_card_that_goes_away_is_no_reading(sysfs):
    meter = AmdMeter({}, sysfs)
    (sysfs / "devices" / "0000:02:00.0" / "mem_info_vram_used").unlink()
    assert meter.read() is None


def test_a_machine_without_a_gpu_says_what_was_tried(tmp_path):
    done = subprocess.run(
        [sys.executable, "-S", "-c", "from gpu_guard.memory import open_meter; print(open_meter().source)"],
        env={"PYTHONPATH": str(PLUGIN), "PATH": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("NVML: no libnvidia-ml.so.1; nvidia-smi is not on PATH; ")


def test_amd_is_found_where_nvidia_is_not(sysfs, tmp_path):
    meter = open_meter({"PATH": str(tmp_path)}, sysfs)
    assert (meter.source, len(meter.devices)) == ("sysfs", 2)
