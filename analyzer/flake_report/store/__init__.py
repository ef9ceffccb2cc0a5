"""The store: Delta Lake underneath, counting SQL on top."""

from flake_report.model.record import IngestCounts

from .store import Store

__all__ = ["IngestCounts", "Store"]
