"""What pytest finds in a container's copy of gpu-guard: the recorder, or one line why not; the tests run either way.

It must be read by any Python 3, and imported beside any pytest.
"""

import sys

import pytest

if sys.version_info >= (3, 9) and int(pytest.__version__.split(".")[0]) >= 7:
    from gpu_guard.recorder import pytest_addoption, pytest_configure

    __all__ = ["pytest_addoption", "pytest_configure"]
else:
    sys.stderr.write(
        "gpu-guard: the tests run unrecorded: it needs Python 3.9 and pytest 7, and here are %s and %s\n"
        % (sys.version.split()[0], pytest.__version__)
    )
