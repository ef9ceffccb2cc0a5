"""Rates and verdicts, from counts alone."""
