"""The visible GPUs, read as the guard reads them: no CUDA context is made."""

from __future__ import annotations

from gpu_guard import probe
from gpu_guard.budget import Card
from gpu_guard.memory import open_briefly


def describe() -> tuple[list[Card], str]:
    """The cards as they are now, and what read them or why nothing could."""
    meter = open_briefly()
    try:
        snapshot = probe.take(meter)
    finally:
        meter.close()
    return ([], meter.source) if snapshot is None else (snapshot.cards(), snapshot.source)


def cards() -> list[Card]:
    """The cards as they are now."""
    return describe()[0]
