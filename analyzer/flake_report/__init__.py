"""Which GPU tests flake, how often, and which were only victims: `rates(store, …)` gives a pandas frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import rates

__version__ = "0.1.0"
__all__ = ["__version__", "rates"]


def __getattr__(name: str) -> object:
    # pandas takes half a second to import: the command line must not pay for the API.
    if name == "rates":
        from .api import rates as public

        return public
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
