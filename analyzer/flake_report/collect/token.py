"""The API token: where it comes from, and that it never shows."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from requests import PreparedRequest
from requests.auth import AuthBase

from flake_report.errors import FlakeReportError

VARIABLE = "BUILDKITE_API_TOKEN"
FILE_VARIABLE = f"{VARIABLE}_FILE"
COMMAND_VARIABLE = f"{VARIABLE}_COMMAND"
WHERE_FROM = f"{VARIABLE}, {FILE_VARIABLE} or {COMMAND_VARIABLE}"
"""The three places, for people. All are the user's own: a setting in a checkout could name any command to run."""

_PATIENCE = 120  # seconds: a password manager may first ask its owner


class Token(AuthBase):
    """Signs requests with the token; nothing prints it."""

    __slots__ = ("_text",)

    def __init__(self, text: str, source: str) -> None:
        self._text = text.strip()
        if not self._text:
            raise FlakeReportError(f"{source}: holds no token; put a Buildkite API token there")
        if not self._text.isascii() or not self._text.isprintable() or " " in self._text:
            raise FlakeReportError(f"{source}: what stands there is no API token; a token is one word of plain letters")

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._text}"
        return request

    def __repr__(self) -> str:
        return "Token(hidden)"


class Anonymous(AuthBase):
    """Signs nothing. Given in place of no auth at all, where requests would look for a password in ~/.netrc."""

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        return request


def find_token(env: Mapping[str, str]) -> Token | None:
    """The environment's token, else that of the file it names, else what the command it names prints; else None.

    A place that is named and gives no token raises `FlakeReportError`, which never repeats what it gave.
    """
    if token := env.get(VARIABLE):
        return Token(token, VARIABLE)
    if file := env.get(FILE_VARIABLE):
        return Token(_from_file(Path(file).expanduser()), f"{FILE_VARIABLE} {file}")
    if command := env.get(COMMAND_VARIABLE):
        return Token(_from_command(command), COMMAND_VARIABLE)
    return None


def _from_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FlakeReportError(f"{path}: what stands there is no API token; it is not even text") from error
    except OSError as error:
        raise FlakeReportError(f"{path}: the token cannot be read ({error.strerror}); check the path") from error


def _from_command(command: str) -> str:
    name = COMMAND_VARIABLE
    try:
        words = shlex.split(command)
        # Its standard error stays the terminal's: a password manager asks there.
        done = subprocess.run(words, stdout=subprocess.PIPE, check=False, timeout=_PATIENCE)  # noqa: S603  # the user's own
    except (OSError, ValueError, IndexError) as error:
        raise FlakeReportError(f"{name}: cannot be run ({error}); check the command") from error
    except subprocess.TimeoutExpired as error:
        raise FlakeReportError(f"{name}: gave no token within {_PATIENCE} seconds; run it by hand") from error
    if done.returncode:
        raise FlakeReportError(f"{name}: ended with status {done.returncode}; run it by hand")
    try:
        return done.stdout.decode("ascii")
    except UnicodeDecodeError as error:
        raise FlakeReportError(f"{name}: what it printed is no API token") from error
