"""Lowers `gpu_memory_utilization` of vLLM engines to what fits when they are built; never raises it.

Every engine's configuration is made by `EngineArgs.create_engine_config` (vLLM 0.6 and later), in the process of
the test: for an engine in this process, and for one in a process of its own.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gpu_guard import budget
from gpu_guard.settings import at_most

from .parcel import Line

MODULE = "vllm.engine.arg_utils"

Free = Callable[[], "tuple[int, int] | None"]


class Tuner(importlib.abc.MetaPathFinder):
    """Stands between tests and vLLM from `install` to `uninstall`. `tell` takes each lowering."""

    def __init__(self, free: Free, tell: Callable[[Line], None]) -> None:
        self._free = free
        self._tell = tell
        self._original: tuple[Any, Any] | None = None

    def install(self) -> None:
        """Take hold of vLLM now if it is loaded, or as soon as it is."""
        module = sys.modules.get(MODULE)
        if module is not None:
            self.take_hold(module)
        else:
            sys.meta_path.insert(0, self)

    def uninstall(self) -> None:
        """Put everything back."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        if self._original is not None:
            owner, method = self._original
            owner.create_engine_config = method
            self._original = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Import's own question, answered by the others: the one module is looked at after it was loaded."""
        if fullname != MODULE:
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Afterwards(spec.loader, self.take_hold)
                return spec
        return None

    def take_hold(self, module: ModuleType) -> None:
        """Replace the method that makes an engine's configuration."""
        owner = getattr(module, "EngineArgs", None)
        original = getattr(owner, "create_engine_config", None)
        if owner is None or original is None:
            return
        self._original = (owner, original)

        @functools.wraps(original)
        def create_engine_config(arguments: Any, *args: Any, **kwargs: Any) -> Any:
            self._lower(arguments)
            return original(arguments, *args, **kwargs)

        owner.create_engine_config = create_engine_config

    def _lower(self, arguments: Any) -> None:
        wanted = getattr(arguments, "gpu_memory_utilization", None)
        memory = self._free()
        if not isinstance(wanted, (int, float)) or memory is None:
            return
        free, total = memory
        lowered = budget.lowered(at_most(float(wanted), "UTILIZATION"), free, total)
        if lowered < wanted:
            arguments.gpu_memory_utilization = lowered
            self._tell({"from": wanted, "to": lowered, "free": free, "total": total})


class _Afterwards(importlib.abc.Loader):
    """A module's own loader, and something to do once it has run."""

    def __init__(self, loader: Any, then: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """As the module's own loader does."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """As the module's own loader does; then the rest."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._then(module)

    def __getattr__(self, name: str) -> Any:
        """Whatever else a loader can do, it still can."""
        return getattr(self._loader, name)
