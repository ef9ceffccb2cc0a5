"""Run by the hooks: `python3 -I .../hooks/__main__.py pre-command FILE`, or `pre-exit`.

Written so that a Python which is too old can read it, and say so. A mistake in the guard itself is shown in full and
the job goes on: without the guard it is the job that it was, and a GPU pool must not stand still for a bug of ours.
"""

import io
import os
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Optional, Type


def told(kind: Type[BaseException], error: BaseException, trace: "Optional[TracebackType]") -> None:  # noqa: FA100
    """Show a bug; Ctrl-C and the like end the hook as they would."""
    traceback.print_exception(kind, error, trace)
    if not issubclass(kind, Exception):
        os._exit(130)
    sys.stderr.write("gpu-guard: this is a bug in gpu-guard; the job goes on without it\n")
    sys.stderr.flush()
    os._exit(0)


if sys.version_info < (3, 9):
    sys.stderr.write(
        "gpu-guard: it needs Python 3.9, and python3 is %d.%d: the job runs unguarded\n" % sys.version_info[:2]
    )
    sys.exit(0)

sys.excepthook = told
for stream in (sys.stdout, sys.stderr):
    if isinstance(stream, io.TextIOWrapper):  # it is None where the agent closed it
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # any name can be said in any locale
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from gpu_guard.hooks import post, prior  # noqa: E402  # the folder is known only now

if sys.argv[1] == "pre-command":
    sys.exit(prior.run(os.environ, sys.argv[2]))
post.run(os.environ)
