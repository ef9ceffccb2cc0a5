"""What single lines say of GPU memory: texts of vLLM 0.6 to 0.33, its test tools, torch 2.x. Sizes become bytes.

vLLM prints sizes rounded to 0.01 GiB: what is read here is exact to about 5 MiB, no better.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeAlias

from flake_report.model.results import Holder

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
_NO_BLOCKS = re.compile("No available memory for the cache blocks")
_KV_NEEDED = re.compile("KV cache is needed, which is larger")
_ARGUMENTS = re.compile(r"non-default args: \{")
_ENGINE = re.compile(r"LLM engine \(v")
_UP = re.compile(r"init engine \(profile")
_HOLDER = re.compile(rf"Process (\d+) has {_SIZE} memory in use|this process has {_SIZE} memory in use")
_TORCH = re.compile(rf"Of the allocated memory {_SIZE} is allocated by PyTorch, .*?and {_SIZE} is reserved by PyTorch")
_CLEANER = re.compile(r"gpu memory used(?:/total)? \((?:GiB|GB)\): (?P<each>(?:\d+=[\d.]+(?:/[\d.]+)?; ?)+)")
_EACH = re.compile(r"(\d+)=([\d.]+)(?:/([\d.]+))?;")
_LAST_SECOND = 1e11  # a larger number is no time of this millennium
_LEAK = re.compile(rf"(?P<test>.*\S) left {_SIZE}(?: in (?P<held>\S.*?))?(?:; (?:it was back|the next) .+)?")
"""The recorder's sentence at the end of a session (`gpu_guard/recorder/summary.py`).

What holds it is told as `X (10.8 GiB, 5,798,205,850 bfloat16)`, and was `5798205850 torch.bfloat16 in X` before.
"""
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


def process_of(text: str) -> str:
    """The vLLM process that a line is marked with, such as `EngineCore pid=7`; empty for none."""
    found = _PROCESS.search(text)
    return f"{found['name']} pid={found['pid']}" if found else ""


def logged(text: str) -> bool:
    """Whether vLLM's own logger wrote the line: pytest's copy in "Captured log" is the same line once more."""
    return _LOGGED.search(text) is not None


def readings(text: str) -> list[Reading]:
    """Memory that a line reads off a device, an error's and a test tool's alike."""
    for pattern, read in _READINGS:
        if found := pattern.search(text):
            return read(found)
    return []


def engine_fact(text: str) -> EngineFact | None:
    """What a line tells of an engine that starts; None for a line that tells nothing.

    Errors may stand in any line; the rest counts only where vLLM's own logger wrote it.
    """
    for pattern, learn in (*_FAILURES, *(_LOGGED_FACTS if logged(text) else ())):
        if found := pattern.search(text):
            return learn(found)
    return None


def _out_of_memory(found: re.Match[str]) -> list[Reading]:
    _, _, index, total, total_unit, free, free_unit = found.groups()
    text = found.string
    holders = tuple(
        Holder(int(pid), "", _size(size, unit)) if pid else Holder(0, THIS_PROCESS, _size(own_size, own_unit))
        for pid, size, unit, own_size, own_unit in _HOLDER.findall(text)
    )
    torch = _TORCH.search(text)
    reserved = _size(torch[1], torch[2]) + _size(torch[3], torch[4]) if torch else None
    return [
        Reading(
            f"cuda:{index}",
            free=_size(free, free_unit),
            total=_size(total, total_unit),
            torch=reserved,
            holders=holders,
        )
    ]


def _snapshot(found: re.Match[str]) -> list[Reading]:
    free, total, used, torch, _other, at = found.groups()
    taken = datetime.fromtimestamp(float(at), UTC) if float(at) < _LAST_SECOND else None
    return [Reading("", free=gib(free), total=gib(total), used=gib(used), torch=gib(torch), at=taken)]


def _cleaner(found: re.Match[str]) -> list[Reading]:
    return [
        Reading(index, used=gib(used), total=gib(total) if total else None)
        for index, used, total in _EACH.findall(found["each"])
    ]


def _short(found: re.Match[str]) -> EngineFact:
    device, free, total, utilization, requested = found.groups()
    sizes = {"free": gib(free), "total": gib(total), "requested": gib(requested)}
    return EngineFact(outcome="free memory", device=device or "", utilization=float(utilization), sizes=sizes)


def _begins(found: re.Match[str]) -> EngineFact:
    utilization = _UTILIZATION.search(found.string)
    return EngineFact(begins=True, utilization=float(utilization[1]) if utilization else None)


def _usage(found: re.Match[str]) -> EngineFact:
    device, free, total, utilization, requested, weight, activation, other = found.groups()
    sizes = {"free": free, "total": total, "requested": requested, "weight": weight, "activation": activation}
    sizes["non_torch"] = other
    return EngineFact(
        device=device or "",
        utilization=float(utilization),
        sizes={name: gib(size) for name, size in sizes.items() if size is not None},
    )


_READINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[Reading]]], ...] = (
    (_SHORT, lambda found: [Reading(found["device"] or "", free=gib(found[2]), total=gib(found[3]))]),
    (_OUT, _out_of_memory),
    (_SNAPSHOT, _snapshot),
    (_PROFILING, lambda found: [Reading("", free=gib(found[2]))]),
    (_CLEANER, _cleaner),
    (_STATUS, lambda found: [Reading(found[1], used=gib(found[2]), total=gib(found[3]))]),
)

_Facts: TypeAlias = tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], EngineFact]], ...]

_FAILURES: _Facts = (
    (_SHORT, _short),
    (_PROFILING, lambda found: EngineFact(outcome="profiling", sizes={"free": gib(found[1])})),
    (_NO_BLOCKS, lambda _: EngineFact(outcome="no cache blocks")),
    (_KV_NEEDED, lambda _: EngineFact(outcome="KV cache too small")),
    (_OUT, lambda _: EngineFact(outcome=OUT_OF_MEMORY)),
)

_LOGGED_FACTS: _Facts = (
    (_ARGUMENTS, _begins),
    (_ENGINE, lambda _: EngineFact()),
    (_WEIGHT, lambda found: EngineFact(sizes={"weight": gib(found[1])})),
    (_KV, lambda found: EngineFact(sizes={"kv": gib(found[1])})),
    (_USAGE, _usage),
    (_UP, lambda _: EngineFact(outcome=STARTED)),
)


def leak_of(text: str) -> tuple[str, int, str] | None:
    """Test, bytes and holder of a sentence of the recorder's summary; None for any other text."""
    found = _LEAK.fullmatch(text)
    if found is None or not _is_node_id(found["test"]):
        return None
    return found["test"], round(float(found[2]) * _UNITS[found[3]]), found["held"] or ""


def _is_node_id(text: str) -> bool:
    """Whether `::` stands within the first word; a pattern would try each `::` of a hostile line, for hours."""
    at = text.find("::", 1)
    return 0 < at < len(text) - 2 and not any(char.isspace() for char in text[:at])
