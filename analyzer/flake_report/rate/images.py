"""The container image that a job ran in, as far as its command tells."""

from __future__ import annotations

import re

_RUN = re.compile(r"\b(?:docker|podman|nerdctl)\s+(?:container\s+)?run\b(?P<rest>[^|;&]*)")
_IMAGE = re.compile(r"(?P<name>(?:[\w.-]+(?::\d+)?/)*[\w.-]+)(?::[\w.-]+|@sha256:[0-9a-f]{64})")
_SWITCHES = frozenset(
    {
        "-d",
        "-i",
        "-t",
        "-it",
        "-ti",
        "--detach",
        "--init",
        "--interactive",
        "--privileged",
        "--read-only",
        "--rm",
        "--tty",
    }
)
"""Options of `docker run` that take no value: the word after them may be the image."""


def image_of(command: str) -> str:
    """The image that `docker run` or its like is given, without tag or digest; empty where none is named with one.

    Values of options are passed over, so that a mount such as `-v /a:/b` is no image. Syntax of the name: the
    distribution project's reference grammar, `[host[:port]/]path[:tag|@digest]`.
    """
    run = _RUN.search(command)
    option = ""
    for word in run["rest"].split() if run else ():
        value = option.startswith("-") and option not in _SWITCHES and "=" not in option
        option = word
        if not value and not word.startswith("-") and (image := _IMAGE.fullmatch(word)):
            return image["name"]
    return ""
