"""What a vLLM engine prints while it starts, for the settings of the day and the device of the step."""

from __future__ import annotations

from .plan import made_up_id, share
from .story import Engine, template

_ACTIVATION_GIB = 0.52
_NON_TORCH_GIB = 0.11
_CONTEXT_GIB = 0.41  # what the driver and the process itself hold before any engine
_TOKENS_PER_GIB = 36_900
_ARCHITECTURES = {"google/gemma-3-1b-it": "Gemma3ForCausalLM", "facebook/opt-125m": "OPTForCausalLM"}


def engine_lines(
    engine: Engine, *, utilization: float, total_gib: float, free_gib: float | None, seed: str, starts: bool
) -> str:
    """The engine's lines, to the end of its start and one prompt, or only as far as it came.

    `free_gib` is what an earlier engine left free; None on a clean device.
    """
    requested = total_gib * utilization
    kv = requested - engine.weight_gib - _ACTIVATION_GIB - _NON_TORCH_GIB
    free = (free_gib if free_gib is not None else total_gib) - _CONTEXT_GIB
    most = free - engine.weight_gib - _ACTIVATION_GIB - _NON_TORCH_GIB
    names = ["engine_start.txt"]
    if starts:
        names += ["engine_ready.txt", *([] if engine.in_process else ["engine_compiled.txt"]), "engine_run.txt"]
    pid = 700 + int(300 * share(seed, "pid"))
    values = {
        "model": engine.model,
        "architecture": _ARCHITECTURES[engine.model],
        "utilization": utilization,
        "eager": engine.in_process,
        "engine_id": made_up_id(seed, "engine"),
        "proc": "" if engine.in_process else f"(EngineCore pid={pid}) ",
        "port": 30_000 + int(30_000 * share(seed, "port")),
        "weight": engine.weight_gib,
        "activation": _ACTIVATION_GIB,
        "non_torch": _NON_TORCH_GIB,
        "requested": round(requested, 2),
        "free": round(free, 2),
        "total": total_gib,
        "kv": round(kv, 2),
        "kv_bytes": int(kv * 2**30),
        "most": round(most, 2),
        "most_bytes": int(most * 2**30),
        "tokens": f"{int(kv * _TOKENS_PER_GIB):,}",
        "concurrency": f"{kv * _TOKENS_PER_GIB / 2048:.2f}",
    }
    return "".join(template(name).substitute(values) for name in names)
