"""Another process that holds GPU memory, as a co-tenant does: told what to do over its standard input."""

from __future__ import annotations

import os
import subprocess
import sys
from types import TracebackType
from typing import Self

CONTEXT = 0.52
"""GiB that a process takes for its CUDA context before it holds anything (seen on an H200)."""

_SCRIPT = """
import sys
import torch

held = []
torch.empty(1, device="cuda")
torch.cuda.synchronize()
print("ready", flush=True)
for line in sys.stdin:
    word, _, size = line.partition(" ")
    if word == "hold":
        held.append(torch.empty(int(float(size) * 2**30), dtype=torch.uint8, device="cuda"))
    else:
        held.clear()
        torch.cuda.empty_cache()
    torch.cuda.synchronize()
    print("done", flush=True)
"""


class Holder:
    """Use as a context: outside it, nothing is held."""

    def __init__(self, device: str | None = None) -> None:
        """`device` is for CUDA_VISIBLE_DEVICES; without it the process sees what this one sees."""
        environment = dict(os.environ) if device is None else {**os.environ, "CUDA_VISIBLE_DEVICES": device}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=environment,
        )

    @property
    def pid(self) -> int:
        """What the driver lists it by."""
        return self._process.pid

    def hold(self, gib: float) -> None:
        """Take so much more; returns when it is taken."""
        self._tell(f"hold {gib}")

    def free(self) -> None:
        """Give all of it back, but for the context."""
        self._tell("free")

    def __enter__(self) -> Self:
        self._expect("ready")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def _tell(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._expect("done")

    def _expect(self, word: str) -> None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line == word, f"the holder said {line!r}, not {word!r}"
