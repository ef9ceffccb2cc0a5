"""What makes two sessions of different builds the same session: their command, less what differs by build."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable

# Options that name a place for a report or for temporary files, or that pick a shard: never part of what is run.
_DROPPED = frozenset(
    {
        # reports
        "--junitxml", "--junit-xml", "--json", "--report-log", "--resultlog", "--html", "--csv",
        "--self-contained-html",
        "--json-report", "--json-report-file", "--alluredir", "--cov", "--cov-report", "--cov-config", "--cov-append",
        "--gpu-guard-record", "--gpu-guard-quarantine", "--gpu-guard-clean", "--gpu-guard-tune",
        "--store-durations", "--durations-path", "--gherkin-terminal-reporter", "--cucumberjson", "--log-file",
        # temporary files
        "--basetemp", "--cache-dir",
        # shards
        "--num-shards", "--shard-id", "--splits", "--group", "--shard", "--total-shards", "--test-group",
        "--test-group-count",
    }
)  # fmt: skip
# Of those, the ones that take no value: the next word is not theirs.
_FLAGS = frozenset(
    {
        "--self-contained-html",
        "--json-report",
        "--cov-append",
        "--store-durations",
        "--gpu-guard-clean",
        "--gpu-guard-tune",
    }
)
_DROPPED_SETTINGS = ("cache_dir=", "junit_", "log_file=")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PYTHON = re.compile(r"(?:python[\d.]*|pypy[\d.]*)(?:\.exe)?")
_MODULE = re.compile(r"-[A-Za-z]*m")
_VALUED = ("-X", "-W")
_SPELLINGS = {"py.test": "pytest", "pytest.exe": "pytest"}
# What a shell takes as one piece, operators in it included: an escape, quotes, a substitution.
_PIECE = r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\((?:[^()]|\([^()]*\))*\)|\$\{[^}]{0,1000}\}|`[^`]*`"""
_SHELL = re.compile(
    rf"(?P<piece>{_PIECE})"
    # a redirect with its target: 2>&1, &> out.log, < in, > >(tee out.log)
    r"|(?:(?<!\S)\d+)?(?:&>>?|(?!<\(|>\()[<>]{1,3}[&|]?)\s*"
    rf"(?:[<>]\([^)]{{0,1000}}\)|(?:{_PIECE}|[^\s|;&<>'\"\\])+)?"
    # the command ends: a pipe, a list, the background
    r"|(?P<end>[|;&\n].*)",
    re.DOTALL,
)


def session_key(command: str) -> str:
    """The part of a runner's command line that stays the same from build to build; empty for an empty command.

    Left out: environment assignments, the path and spelling of the program (`/venv/bin/python -u -m pytest` is
    `pytest`), options for report files, temporary folders and shards, and what the shell does with the output
    (`2>&1 | tee out.log`). Order and everything else stay: the same test under other settings is another variant.
    """
    words = _program(_words(command_alone(command)))
    kept: list[str] = []
    skip_next = False
    previous = ""
    for word in words:
        if skip_next:
            skip_next = False
            continue
        option, equals, _value = word.partition("=")
        if option in _DROPPED:
            skip_next = not equals and option not in _FLAGS
        elif previous in ("-o", "--override-ini") and word.startswith(_DROPPED_SETTINGS):
            kept.pop()
        elif previous == "-p" and word.startswith("gpu_guard"):
            kept.pop()  # with the recorder or without, it is the same session
        else:
            kept.append(word)
        previous = word
    return " ".join(kept)


def numbered(keys: Iterable[str]) -> list[str]:
    """The keys of one job's sessions in order, equal ones told apart: `pytest v1`, then `pytest v1 #2`."""
    seen: Counter[str] = Counter()
    told = []
    for key in keys:
        seen[key] += 1
        told.append(f"{key} #{seen[key]}" if key and seen[key] > 1 else key)
    return told


def command_alone(command: str) -> str:
    """The first command of a shell's line, without redirects: what the program itself is given."""
    return _SHELL.sub(lambda found: found["piece"] or " ", command.strip())


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote that never ends: the log showed only part of the command
        return command.split()


def _program(words: list[str]) -> list[str]:
    start = 0
    while start < len(words) and _ASSIGNMENT.match(words[start]):
        start += 1
    words = words[start:]
    if not words:
        return words
    program = words[0].replace("\\", "/").rpartition("/")[2]
    if _PYTHON.fullmatch(program) and (module := _module(words)):
        return module
    if program == "__main__.py":  # sys.argv of `python -m pytest`: .../site-packages/pytest/__main__.py
        program = words[0].replace("\\", "/").split("/")[-2] if "/" in words[0] else program
    return [_SPELLINGS.get(program, program), *words[1:]]


def _module(words: list[str]) -> list[str]:
    """The module that an interpreter runs, with its arguments: what follows `-m`; empty where it runs none."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if _MODULE.fullmatch(words[at]):
            return words[at + 1 :]
        at += 2 if words[at] in _VALUED else 1
    return []
