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
WHERE_FROM = f"{VARIABLE}, or [collect] token_file or token_command in flake-report.toml"
"""The three places, for people."""

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


def find_token(env: Mapping[str, str], file: str | None = None, command: str | None = None) -> Token | None:
    """The token of the environment, else of the file, else what the command prints; None where none is named.

    A place that is named and gives no token raises `FlakeReportError`, which never repeats what it gave.
    """
    if env.get(VARIABLE):
        return Token(env[VARIABLE], VARIABLE)
    if file:
        return Token(_from_file(Path(file).expanduser()), f"[collect] token_file {file}")
    if command:
        return Token(_from_command(command), "[collect] token_command")
    return None


def _from_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FlakeReportError(f"{path}: what stands there is no API token; it is not even text") from error
    except OSError as error:
        raise FlakeReportError(f"{path}: the token cannot be read ({error.strerror}); check the path") from error


def _from_command(command: str) -> str:
    name = "[collect] token_command"
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
