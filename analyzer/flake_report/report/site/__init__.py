"""The page of a report: one HTML file that works from disk, and scripts beside it for what it cannot hold."""

from .page import render

__all__ = ["render"]
