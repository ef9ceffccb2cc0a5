"""Guards GPU memory in CI jobs. Standard library only; runs under Python 3.9 and later, beside any test suite."""

__version__ = "0.1.0"
