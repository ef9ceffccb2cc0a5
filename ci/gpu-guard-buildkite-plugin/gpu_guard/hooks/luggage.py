"""What goes with a job into its container: a copy of the recorder in the checkout, which is what containers mount.

    .gpu-guard/lib       gpu_guard, and the metadata by which pytest finds the recorder as it finds any plugin
    .gpu-guard/record    what the tests write
    .gpu-guard/env       the variables, for a shell that did not get them: `. .gpu-guard/env`

A path to `lib` that leads nowhere in the container is harmless: then the tests run unrecorded.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from gpu_guard import __version__

from .shell import BYTES, exports

FOLDER = ".gpu-guard"

_PACKAGE = Path(__file__).resolve().parent.parent
_ENTRY = "[pytest11]\ngpu_guard.recorder = gpu_guard.autoload\n"


def pack(checkout: Path) -> Path:
    """Lay the folder down anew. Raise OSError where that cannot be.

    What an earlier job left goes first. Where it does not, nothing is written: a link may lie in it, to anywhere.
    """
    folder = checkout / FOLDER
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    lib = folder / "lib"
    lib.mkdir()
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")  # no job finds its checkout changed
    try:
        shutil.copytree(_PACKAGE, lib / _PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__", "hooks"))
    except shutil.Error as error:  # a row for each file, and the same reason in each
        raise OSError(error.args[0][0][2]) from error
    for inside in [lib / _PACKAGE.name, *(path for path in (lib / _PACKAGE.name).iterdir() if path.is_dir())]:
        # A container's root writes here too. In folders of our own the agent can delete what root wrote.
        (inside / "__pycache__").mkdir()
    metadata = lib / f"gpu_guard-{__version__}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: gpu-guard\nVersion: {__version__}\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(_ENTRY, encoding="utf-8")
    record = folder / "record"
    record.mkdir()
    os.chmod(record, 0o1777)  # noqa: S103, PTH101  # the container's user may be another; Path.chmod says no more
    return folder


def write_env(folder: Path, variables: Mapping[str, str], lib: str) -> None:
    """The variables as a file for POSIX shells; the container's own PYTHONPATH stays behind ours."""
    others = {name: value for name, value in variables.items() if name != "PYTHONPATH"}
    path = exports({"PYTHONPATH": lib}).rstrip("\n") + '"${PYTHONPATH:+:$PYTHONPATH}"\n'
    (folder / "env").write_text(exports(others) + path, encoding="utf-8", errors=BYTES)
