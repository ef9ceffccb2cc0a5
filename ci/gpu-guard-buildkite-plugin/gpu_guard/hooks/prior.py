"""Before the command: check the GPUs, wait, hand over the settings and the recorder."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpu_guard import guard
from gpu_guard.memory.visible import HIDING
from gpu_guard.options import Options, OptionsError, from_environment

from .deadline import end_after
from .log import refuse, say
from .luggage import FOLDER, pack, write_env
from .place import LIST, Place, place
from .shell import BYTES, add_to_env_file, exports

RECORD = "GPU_GUARD_RECORD"
"""The recorder's own switch: a folder. Where the step sets it, the step says where recordings go."""

STATE = "GPU_GUARD_STATE"
"""The variable that names the file in which the first hook tells the last one what it saw."""

IDENTITY = (
    "BUILDKITE_AGENT_META_DATA_QUEUE", "BUILDKITE_AGENT_NAME", "BUILDKITE_BRANCH", "BUILDKITE_BUILD_NUMBER",
    "BUILDKITE_COMMIT", "BUILDKITE_JOB_ID", "BUILDKITE_LABEL", "BUILDKITE_ORGANIZATION_SLUG", "BUILDKITE_PARALLEL_JOB",
    "BUILDKITE_PARALLEL_JOB_COUNT", "BUILDKITE_PIPELINE_SLUG", "BUILDKITE_RETRY_COUNT", "BUILDKITE_STEP_KEY",
)  # fmt: skip
"""What the recorder writes down of the job: nothing in it is secret."""

SLACK = 180.0
"""Seconds beyond the wait that a step asks for: by then every program that is asked has answered or was given up."""

_OURS = "GPU_GUARD_"


def run(environ: Mapping[str, str], target: str) -> int:
    """Decide, and write what is to be exported into the file `target`; the exit status of the hook."""
    try:
        options = from_environment(environ)
    except OptionsError as error:
        refuse("the options of this step are not right", error.mistakes)
        return guard.WRONG
    timer = end_after(options.wait + SLACK, guard.CONTENTION if options.on_contention == "refuse" else 0)
    try:
        return _checked(options, environ, target)
    finally:
        timer.cancel()


def _checked(options: Options, environ: Mapping[str, str], target: str) -> int:
    checkout = Path(environ.get("BUILDKITE_BUILD_CHECKOUT_PATH") or Path.cwd())
    decision = guard.check(
        profile=options.profile,
        profiles_file=None if options.profiles_file is None else checkout / options.profiles_file,
        utilization=options.utilization,
        min_free=options.min_free,
        wait=options.wait,
        on_contention=options.on_contention,
        on_no_gpu=options.on_no_gpu,
        clean_own_leftovers=options.clean_own_leftovers,
        environ=environ,
        say=say,
    )
    if decision.exit_status:
        refuse(decision.sentences[0], decision.sentences[1:])
        return decision.exit_status
    for sentence in decision.sentences:
        say(sentence)
    where = place(environ, str(checkout), options.checkout_in_container)
    variables = {name: where.path(value, str(checkout)) for name, value in decision.settings.items()}
    if options.record and RECORD not in environ:
        variables.update(_recording(environ, checkout, where, variables))
    _hand_over(environ, where, variables)
    own = [name for name in environ if name in IDENTITY or (name.startswith(_OURS) and name not in (*variables, LIST))]
    variables[LIST] = " ".join([*variables, *own]) or LIST
    try:
        variables[STATE] = _keep(
            before=None if decision.before is None else decision.before.as_data(),
            choice={name: environ[name] for name in HIDING if name in environ},
            annotate=options.annotate,
            recorded=RECORD in variables,
            checkout=str(checkout),
        )
        Path(target).write_text(exports(variables), encoding="utf-8", errors=BYTES)
    except OSError as error:
        say(f"the settings do not reach the command: {error}")
    return 0


def _recording(environ: Mapping[str, str], checkout: Path, where: Place, settings: Mapping[str, str]) -> dict[str, str]:
    """Variables by which the tests are recorded; none where that cannot be, and the log says why."""
    if where.checkout is None:
        say(
            f"the tests run unrecorded: nothing says where the {where.plugin} plugin's container sees the checkout: "
            "checkout-in-container tells it"
        )
        return {}
    inside = f"{where.checkout.rstrip('/')}/{FOLDER}"
    found = {RECORD: f"{inside}/record"}
    try:
        write_env(pack(checkout), {**settings, **found}, f"{inside}/lib")
    except OSError as error:
        say(f"the tests run unrecorded: {error}")
        return {}
    own = environ.get("PYTHONPATH")
    return {**found, "PYTHONPATH": f"{inside}/lib:{own}" if own else f"{inside}/lib"}


def _hand_over(environ: Mapping[str, str], where: Place, variables: Mapping[str, str]) -> None:
    """Let the variables into the container, where the pipeline lets them in, and say what it does not let in."""
    file = environ.get("BUILDKITE_ENV_FILE")
    in_file = [name for name in variables if name != "PYTHONPATH"]  # an image's own PYTHONPATH must not be lost
    if where.env_file and file:
        try:
            add_to_env_file(Path(file), variables, in_file)
        except OSError as error:
            say(f"the agent's list of the job's variables takes no more: {error}")
            file = None
    lacking = where.lacks(variables, in_file if file else [])
    if not lacking or f"{FOLDER}/env" in environ.get("BUILDKITE_COMMAND", ""):
        return
    words = f"the {where.plugin} plugin does not hand {', '.join(lacking)} to the container: "
    words += "name them under its `environment`"
    if RECORD in variables:
        shell = shlex.quote(f"{where.checkout}/{FOLDER}/env")
        words += f", or begin the command with `[ ! -f {shell} ] || . {shell};`"
    say(words)


def _keep(**state: Any) -> str:
    """A file for the last hook, outside the checkout: what lies there the job may change."""
    handle, path = tempfile.mkstemp(prefix="gpu-guard-", suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(state, file)
    return path
