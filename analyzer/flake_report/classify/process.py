"""Which process a line of vLLM's log speaks for: an engine or a worker of its own is new when it starts."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARK = re.compile(r"\((?P<name>\w*(?:EngineCore|Worker)\w*) (?:rank=\d+ )?pid=(?P<pid>\d+)[,)]")
"""vLLM and Ray: `(EngineCore_DP0 pid=738)`, `(VllmWorker rank=1 pid=9)`, `(RayWorkerWrapper pid=7, ip=…)`."""
_FILE = re.compile(r"\[(?:[\w./-]*/)?(?P<file>core|multiproc_executor)\.py:\d+\] ?(?:\w*Error|torch\.)")
"""An error that vLLM logs from a file which only such processes run; the mark before it may be cut off."""
ENGINE = "EngineCore"
"""What stands for an engine's process of which nothing else is known."""
_OF_FILE = {"core": ENGINE, "multiproc_executor": "Worker"}


_WRAPPED = re.compile(r"Engine core initialization failed|(?:EngineCore|WorkerProc) failed to start")
"""What the program that asked for the engine says when an engine of its own process could not start."""


def wrapped(text: str) -> bool:
    """Whether a line reports that an engine in a process of its own did not start."""
    return _WRAPPED.search(text) is not None


def process_of(texts: Iterable[str]) -> str:
    """The engine's or worker's own process that one of these lines names; empty where none does."""
    found = ""
    for text in texts:
        if mark := _MARK.search(text):
            return f"{mark['name']} pid={mark['pid']}"
        if not found and (logged := _FILE.search(text)):
            found = _OF_FILE[logged["file"]]
    return found
