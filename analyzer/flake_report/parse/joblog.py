"""Reading a job log: bytes to numbered blocks, lines to text, blocks to an outline."""

from __future__ import annotations

from .blocks import BLOCK_SIZE, OVERLAP, blocks
from .clean import OVERWRITTEN, clean, unprefix
from .outline import Outline

__all__ = ["BLOCK_SIZE", "OVERLAP", "OVERWRITTEN", "Outline", "blocks", "clean", "unprefix"]
