"""The message in a line of a log: what stands after stamps, process names, levels and quoting marks.

Every tool puts something of its own before a message. Patterns with `^` mean the message's begin, so that one row
serves pytest's `E` lines, vLLM's `(EngineCore pid=7) ERROR 11-30 10:30:59 [core.py:1195]` and a bare traceback.
"""

from __future__ import annotations

import re

_PREFIX = re.compile(
    r"""
    \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|\ ?[+-]\d\d:?\d\d)?\]?(?:\s|$)  # RFC 3339, bare or bracketed
    | \d\d:\d\d:\d\d(?:[.,]\d+)?\s+(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|FATAL)\s+-\s)?  # Jenkins, mozharness
    | \[?rank\s?\d+\]?:\s?                                                              # torch's excepthook
    | \([A-Za-z]\w*(?:\s(?:rank|pid|ip|node)=[^)\s]+)+\)\s?                             # vLLM and Ray processes
    | \[Stage-\d+\]\s
    | (?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\s+(?:\d\d-\d\d\s\d\d:\d\d:\d\d(?:[.,]\d+)?\s+)?(?=\[?[\w./-]+:\d+\]\s)
    | \[?[\w./-]+\.py:\d+\]\s                                                           # [file.py:line] alone
    | E\s{2,}                                                                           # pytest's failing lines
    | >\s+                                                                              # quotes
    | (?:[\w.-]+[-_]\d+\s*)?[|│]\s+                                                      # docker compose, boxes
    | \[task\s[^\]\s]+\]\s                                                              # taskcluster
    | `(?=\S)
    """,
    re.VERBOSE,
)
_HARMLESS = re.compile(
    r"""
    \#\#\[(?:warning|debug|command|group|section|endgroup)\] | ::(?:warning|debug|notice|group)
    | \[(?:WARNING|WARN|warn|INFO|info|DEBUG|debug)\] | (?:[Ww]arning|WARN|DEBUG):\s
    | WARNING:\s(?:Retrying|Ignoring|Skipping|Connection) | ERROR:\spip's\sdependency\sresolver
    | \S+:\d+:\s\w*Warning:\s                                  # Python's warnings
    """,
    re.VERBOSE,
)
_QUOTE = r"""(?:[rbfRBF]{0,2}["'])"""
_PROGRAM_TEXT = re.compile(
    rf"""
    (?:raise|assert|return|except)\s | (?:print|logger|logging|warnings|self|msg|message)\s?[.(=]  # Python source
    | {_QUOTE}(?!.*["']\s*:).*["'][,)\s]*$                    # a line of a string in source, no JSON member
    | \+{{1,4}}\s                                             # a shell's trace
    | [$#]\s                                                  # a prompt, a comment
    | //|/\*
    | (?:echo|grep|rg|sed|awk|printf)\s                       # a command that names the text
    """,
    re.VERBOSE,
)


def message(text: str) -> str:
    """The text without what its tools put before it."""
    rest = text.strip()
    while rest and (prefix := _PREFIX.match(rest)):
        rest = rest[prefix.end() :].lstrip()
    return rest


def harmless(text: str) -> bool:
    """Whether a message tells of no failure: its tool calls it a warning or less, or it is program text.

    pytest prints the source that raised, shells print the commands that they run.
    """
    return _HARMLESS.match(text) is not None or _PROGRAM_TEXT.match(text) is not None
