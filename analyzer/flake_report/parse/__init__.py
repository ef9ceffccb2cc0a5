"""Bytes to records: result files and job logs. Nothing here opens a file or raises on bad input."""

VERSION = "3"
"""Rises whenever the same bytes would give other records; stored with each job."""
