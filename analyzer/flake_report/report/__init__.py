"""PURE: what is known, to text, JSON, CSV, Parquet."""
