"""Commands of equal sessions have one key, of different sessions two."""

from __future__ import annotations

import pytest

from flake_report.parse.sessionkey import session_key

SAME = [
    "pytest -v -s v1/kv",
    "python3 -m pytest -v -s v1/kv",
    "/usr/bin/python3.12 -m pytest -v -s v1/kv",
    "/venv/bin/pytest -v -s v1/kv",
    "/venv/lib/python3.12/site-packages/pytest/__main__.py -v -s v1/kv",
    "CUDA_VISIBLE_DEVICES=0 VLLM_USE_V1=1 pytest -v -s v1/kv",
    "pytest -v -s v1/kv --junitxml=out/junit-7.xml",
    "pytest --junit-xml out/junit-7.xml -v -s v1/kv",
    "pytest -v -s v1/kv --basetemp=/tmp/x17 -o cache_dir=/tmp/c",
    "pytest -v -s v1/kv --num-shards=4 --shard-id=2",
    "pytest -v -s v1/kv --splits 4 --group 1",
    "pytest -v -s 'v1/kv' --cov-append --json-report",
    "python3 -u -m pytest -v -s v1/kv",
    "python -X dev -Wignore -W error -um pytest -v -s v1/kv",
    "py.test -v -s v1/kv",
    "pytest -p gpu_guard.recorder -v -s v1/kv",
    "pytest -v -s v1/kv | tee out.log",
    "pytest -v -s v1/kv 2>&1 | tee out.log",
    "pytest -v -s v1/kv|tee out.log",
    "pytest -v -s v1/kv > out.log 2>&1",
    "pytest -v -s >out.log v1/kv",
    "pytest -v -s v1/kv &> out.log",
    "pytest -v -s v1/kv > >(tee out.log) 2> >(tee err.log)",
    "pytest -v -s v1/kv < /dev/null",
    "pytest -v -s v1/kv && echo fine",
    "pytest -v -s v1/kv || true",
    "pytest -v -s v1/kv; exit 0",
    "pytest -v -s v1/kv &",
]


@pytest.mark.parametrize("command", SAME)
def test_report_temporary_and_shard_options_are_not_part_of_the_key(command: str) -> None:
    assert session_key(command) == "pytest -v -s v1/kv"


@pytest.mark.parametrize(
    "command",
    [
        "pytest -v -s v1/kv -m slow",
        "pytest -v -s v1",
        "pytest -s -v v1/kv",
        "pytest -v -s v1/kv -o xfail_strict=true",
        "pytest -p no:cacheprovider -v -s v1/kv",
    ],
)
def test_what_is_run_and_how_is_part_of_the_key(command: str) -> None:
    assert session_key(command) != "pytest -v -s v1/kv"


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("pytest 'x.py::t[a|b]' -k \"c > d; e\"", "pytest x.py::t[a|b] -k c > d; e"),
        ("pytest $(ls v1 | grep -v slow) -v", "pytest $(ls v1 | grep -v slow) -v"),
        ("pytest ${TESTS:-a;b} $MORE | tee x", "pytest ${TESTS:-a;b} $MORE"),
        ("pytest a\\;b", "pytest a;b"),
        ("pytest -n 2 >out", "pytest -n 2"),
        ("pytest v1/x2>out", "pytest v1/x2"),
    ],
)
def test_operators_inside_quotes_and_substitutions_end_nothing(command: str, key: str) -> None:
    assert session_key(command) == key


def test_an_interpreter_that_runs_no_module_stays_the_program() -> None:
    assert session_key("python3 -u run.py -m pytest") == "python3 -u run.py -m pytest"


def test_an_empty_command_and_one_of_settings_alone_have_no_key() -> None:
    assert session_key("") == session_key("A=1 B=2") == ""


def test_a_quote_that_the_log_cut_off_is_no_obstacle() -> None:
    assert session_key("pytest -k 'not slow") == "pytest -k 'not slow"
