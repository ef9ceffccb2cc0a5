"""Which GPU tests flake, how often, since when, and whose fault it is."""

__version__ = "0.1.0"
