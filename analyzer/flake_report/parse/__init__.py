"""Bytes to records: result files and job logs. Nothing here opens a file or raises on bad input."""
