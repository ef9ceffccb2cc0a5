"""What single lines say of GPU memory: texts of vLLM 0.6 to 0.33, its test tools, torch 2.x. Sizes become bytes.

vLLM prints sizes rounded to 0.01 GiB: what is read here is exact to about 5 MiB, no better.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from flake_report.model.record import Holder

_N = r"(\d+(?:\.\d+)?)"
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = r"(\d+(?:\.\d+)?) (bytes|KiB|MiB|GiB)"

_LOGGED = re.compile(r"\b(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d")
_PROCESS = re.compile(r"\((?P<name>[A-Za-z]\w*?)(?: rank=\d+)? pid=(?P<pid>\d+)\)")
_UTILIZATION = re.compile(r"'gpu_memory_utilization': ([\d.]+(?:e-?\d+)?)")
_SHORT = re.compile(
    rf"Free memory on device(?: (?P<device>\w+(?::\d+)?))? \({_N}/{_N} GiB\)(?: on startup)? is less than "
    rf"(?:desired GPU memory utilization|the engine's budget[^(]*) \(([\d.]+(?:e-?\d+)?), {_N} GiB\)"
)
_USAGE = re.compile(
    rf"Free memory on device(?: (?P<device>\w+(?::\d+)?))? \({_N}/{_N} GiB\) on startup\. "
    rf"Desired GPU memory utilization is \(([\d.]+(?:e-?\d+)?), {_N} GiB\)"
    rf"(?:\. Actual usage is {_N} GiB for weight, {_N} GiB for peak activation, {_N} GiB for non-torch memory)?"
)
_PROFILING = re.compile(rf"Error in memory profiling\. Initial free memory {_N} GiB, current free memory {_N} GiB")
_KV = re.compile(r"Available KV cache memory: (-?\d+(?:\.\d+)?) GiB")
_WEIGHT = re.compile(rf"Model loading took {_N} (?:GiB|GB)\b")
_SNAPSHOT = re.compile(
    r"torch_peak=\S+?GiB, (?:torch_allocated=\S+?GiB, )?"
    rf"free_memory={_N}GiB, total_memory={_N}GiB, \w+_memory=(-?[\d.]+)GiB, torch_memory={_N}GiB, "
    r"non_torch_memory=(-?[\d.]+)GiB, timestamp=(\d+(?:\.\d+)?)"
)
_OUT = re.compile(
    rf"(?:CUDA|HIP|XPU|NPU) out of memory\. Tried to allocate {_SIZE}\. GPU (\d+) has a total capaci?ty of {_SIZE} "
    rf"of which {_SIZE} is free"
)
_HOLDER = re.compile(rf"Process (\d+) has {_SIZE} memory in use|this process has {_SIZE} memory in use")
_TORCH = re.compile(rf"Of the allocated memory {_SIZE} is allocated by PyTorch, .*?and {_SIZE} is reserved by PyTorch")
_CLEANER = re.compile(r"gpu memory used(?:/total)? \((?:GiB|GB)\): (?P<each>(?:\d+=[\d.]+(?:/[\d.]+)?; ?)+)")
_EACH = re.compile(r"(\d+)=([\d.]+)(?:/([\d.]+))?;")
_STATUS = re.compile(rf"\s*GPU (\d+): {_N}GiB/{_N}GiB \(")

STARTED = "started"
"""The outcome of an engine that came up; the others name what stopped it."""
OUT_OF_MEMORY = "out of memory"

THIS_PROCESS = "this process"
"""The name of the holder that torch does not number, the one that failed; its pid stands as 0."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Memory of one device, as one line has it; `device` is empty where the line does not say."""

    device: str
    free: int | None = None
    total: int | None = None
    used: int | None = None
    torch: int | None = None
    holders: tuple[Holder, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class EngineFact:
    """What one line adds to an engine's start: named sizes, an outcome, or that it begins."""

    begins: bool = False
    outcome: str = ""
    device: str = ""
    utilization: float | None = None
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.outcome not in ("", STARTED)


def gib(text: str) -> int:
    return round(float(text) * (1 << 30))


def _size(number: str, unit: str) -> int:
    return round(float(number) * _UNITS[unit])


def process_of(text: str) -> tuple[str, str]:
    """Name and pid of the vLLM process that a line is marked with, empty for none."""
    found = _PROCESS.search(text)
    return (found["name"], found["pid"]) if found else ("", "")


def logged(text: str) -> bool:
    """Whether vLLM's own logger wrote the line: pytest's copy in "Captured log" is the same line once more."""
    return _LOGGED.search(text) is not None


def readings(text: str) -> list[Reading]:
    """Memory that a line reads off a device, an error's and a test tool's alike."""
    if found := _SHORT.search(text):
        return [Reading(found["device"] or "", free=gib(found[2]), total=gib(found[3]))]
    if found := _OUT.search(text):
        return [_out_of_memory(text, found)]
    if found := _SNAPSHOT.search(text):
        free, total, used, torch, _other, at = found.groups()
        taken = datetime.fromtimestamp(float(at), UTC) if float(at) < 1e11 else None
        return [Reading("", free=gib(free), total=gib(total), used=gib(used), torch=gib(torch), at=taken)]
    if found := _PROFILING.search(text):
        return [Reading("", free=gib(found[2]))]
    if found := _CLEANER.search(text):
        return [
            Reading(index, used=gib(used), total=gib(total) if total else None)
            for index, used, total in _EACH.findall(found["each"])
        ]
    if found := _STATUS.match(text):
        return [Reading(found[1], used=gib(found[2]), total=gib(found[3]))]
    return []


def _out_of_memory(text: str, found: re.Match[str]) -> Reading:
    _, _, index, total, total_unit, free, free_unit = found.groups()
    holders = tuple(
        Holder(int(pid), "", _size(size, unit)) if pid else Holder(0, THIS_PROCESS, _size(own_size, own_unit))
        for pid, size, unit, own_size, own_unit in _HOLDER.findall(text)
    )
    torch = _TORCH.search(text)
    reserved = _size(torch[1], torch[2]) + _size(torch[3], torch[4]) if torch else None
    return Reading(
        f"cuda:{index}",
        free=_size(free, free_unit),
        total=_size(total, total_unit),
        torch=reserved,
        holders=holders,
    )


def engine_fact(text: str) -> EngineFact | None:
    """What a line tells of an engine that starts; None for a line that tells nothing."""
    if found := _SHORT.search(text):
        device, free, total, utilization, requested = found.groups()
        sizes = {"free": gib(free), "total": gib(total), "requested": gib(requested)}
        return EngineFact(False, "free memory", device or "", float(utilization), sizes)
    if found := _PROFILING.search(text):
        return EngineFact(outcome="profiling", sizes={"free": gib(found[1])})
    if "No available memory for the cache blocks" in text:
        return EngineFact(outcome="no cache blocks")
    if "KV cache is needed, which is larger" in text:
        return EngineFact(outcome="KV cache too small")
    if _OUT.search(text):
        return EngineFact(outcome=OUT_OF_MEMORY)
    return _logged_fact(text) if logged(text) else None


def _logged_fact(text: str) -> EngineFact | None:
    if "non-default args: {" in text:
        found = _UTILIZATION.search(text)
        return EngineFact(begins=True, utilization=float(found[1]) if found else None)
    if "LLM engine (v" in text:
        return EngineFact()
    if found := _WEIGHT.search(text):
        return EngineFact(sizes={"weight": gib(found[1])})
    if found := _KV.search(text):
        return EngineFact(sizes={"kv": gib(found[1])})
    if found := _USAGE.search(text):
        device, free, total, utilization, requested, weight, activation, other = found.groups()
        sizes = {"free": free, "total": total, "requested": requested, "weight": weight, "activation": activation}
        sizes["non_torch"] = other
        return EngineFact(
            device=device or "",
            utilization=float(utilization),
            sizes={name: gib(size) for name, size in sizes.items() if size is not None},
        )
    if "init engine (profile" in text:
        return EngineFact(outcome=STARTED)
    return None
