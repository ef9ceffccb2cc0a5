"""Where the token comes from, and that no text of ours ever holds it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import requests

from flake_report.collect.token import COMMAND_VARIABLE, FILE_VARIABLE, Anonymous, Token, find_token
from flake_report.errors import FlakeReportError

CREDENTIAL = "very-secret-word"


def header(token: Token | None) -> str | None:
    assert token is not None
    return requests.Request("GET", "http://127.0.0.1/", auth=token).prepare().headers.get("Authorization")


def printing(text: str) -> str:
    return f"'{sys.executable}' -c 'print(\"{text}\")'"


def test_the_environment_beats_the_file_beats_the_command(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("from-file\n")
    env = {"BUILDKITE_API_TOKEN": "from-env"}
    command = {COMMAND_VARIABLE: printing("from-command")}
    assert header(find_token({**env, FILE_VARIABLE: str(file), **command})) == "Bearer from-env"
    assert header(find_token({FILE_VARIABLE: str(file), **command})) == "Bearer from-file"
    assert header(find_token(command)) == "Bearer from-command"
    assert find_token({}) is None


def test_a_file_in_the_home_folder_may_be_written_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "token").write_text(CREDENTIAL)
    assert header(find_token({FILE_VARIABLE: "~/token"})) == f"Bearer {CREDENTIAL}"


def test_a_token_never_prints_itself() -> None:
    token = Token(CREDENTIAL, "x")
    assert CREDENTIAL not in repr(token) + str(token) + f"{token}"


@pytest.mark.parametrize(
    "text", ["", "  \n", "two words", "line\nbreak", "tok\x00en", "tökên", "a\r\nX-Evil: 1"], ids=repr
)
def test_what_is_no_token_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(FlakeReportError, match="token") as raised:
        Token(text, "the-place")
    assert str(raised.value).startswith("the-place: ")
    assert text.strip() == "" or text not in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FlakeReportError, match="no-such-file: the token cannot be read"):
        find_token({FILE_VARIABLE: str(tmp_path / "no-such-file")})


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FlakeReportError, match="token: what stands there is no API token"):
        find_token({FILE_VARIABLE: str(tmp_path / "token")})


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (f"'{sys.executable}' -c 'import sys; print(\"{CREDENTIAL}\"); sys.exit(3)'", "ended with status 3"),
        ("no-such-program --x", "cannot be run"),
        ("'unclosed", "cannot be run"),
        ("", "no token"),
        (f"'{sys.executable}' -c 'print(\"ö\")'", "no API token"),
        (f"'{sys.executable}' -c 'print()'", "holds no token"),
    ],
)
def test_a_command_that_gives_no_token_is_told_without_what_it_printed(command: str, said: str) -> None:
    if not command:
        assert find_token({COMMAND_VARIABLE: command}) is None
        return
    with pytest.raises(FlakeReportError, match=said) as raised:
        find_token({COMMAND_VARIABLE: command})
    assert CREDENTIAL not in str(raised.value)


def test_no_password_of_netrc_is_sent_where_nothing_shall_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with requests.Session() as session:
        asked = requests.Request("GET", "http://127.0.0.1/")
        assert "Authorization" in session.prepare_request(asked).headers
        asked.auth = Anonymous()
        assert "Authorization" not in session.prepare_request(asked).headers
