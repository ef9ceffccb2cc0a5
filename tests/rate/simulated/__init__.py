"""Histories of tests whose true nature is known: drawn from a seed, hard on purpose."""
