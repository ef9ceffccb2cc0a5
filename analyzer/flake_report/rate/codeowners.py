"""CODEOWNERS files, read as GitHub reads them.

Format: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
A line is a pattern and its owners; `#` begins a comment. The last pattern that matches a path decides, and one without
owners says that the path has none. Patterns follow .gitignore (https://git-scm.com/docs/gitignore#_pattern_format), but
`!` and `[…]` mean nothing, and a pattern that ends in `/*` covers the files right there and none below.

Of GitLab's sections (https://docs.gitlab.com/user/project/codeowners/reference/) only the default owners are read: all
sections are one list here, as if their headers were not there, so each path has the owners of one line alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SECTION = re.compile(r"\^?\[[^\]]+\](?:\[\d+\])?(?:\s+(?P<owners>.*))?")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_PARTS = re.compile(r"(?:\\.|[^\s\\])+")
_OWNER = re.compile(r"@\S+|[^@\s]+@[^@\s]+\.[^@\s]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line: `path` matches whole paths from the repository's root, `owners` are as written, empty where none."""

    pattern: str
    path: re.Pattern[str]
    owners: str


def parse_codeowners(text: str, name: str) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules of a file in their order, and a warning for each line that is not read as it may be meant.

    `name` says in warnings which file it is. Lines with an owner that is none are passed over, as GitHub does.
    """
    rules: list[Rule] = []
    warnings: list[str] = []
    default = ""
    sections = 0
    for number, line in enumerate(text.splitlines(), 1):
        parts = _PARTS.findall(_COMMENT.sub("", line))
        if not parts:
            continue
        if section := _SECTION.fullmatch(line.strip()):
            default = " ".join(_OWNER.findall(_COMMENT.sub("", section["owners"] or "")))
            sections += 1
            continue
        pattern, *owners = parts
        if wrong := [owner for owner in owners if not _OWNER.fullmatch(owner)]:
            warnings.append(f"{name}, line {number}: {wrong[0]} is no owner (@user, @org/team or an address); not read")
        elif pattern.startswith("!") or "[" in pattern:
            warnings.append(f"{name}, line {number}: `!` and `[…]` mean nothing in CODEOWNERS; not read")
        else:
            rules.append(Rule(pattern, re.compile(_regex(pattern)), " ".join(owners) or default))
    if sections:
        warnings.append(f"{name}: sections of GitLab are read as one list, the last line that matches decides")
    return tuple(rules), tuple(warnings)


def owner_of(paths: Sequence[str], rules: Sequence[Rule]) -> str:
    """The owners that the last matching line names; empty where it names none, or no line matches.

    `paths` are readings of one path: the line that decides may match any of them.
    """
    matching = (rule for rule in reversed(rules) if any(rule.path.fullmatch(path.lstrip("/")) for path in paths))
    rule = next(matching, None)
    return rule.owners if rule else ""


def _regex(pattern: str) -> str:
    r"""The pattern as a regular expression for whole paths without a leading slash.

    A slash at the beginning or inside binds it to the root; without one it stands at any depth. What matches a folder
    covers all that is in it.
    """
    body = pattern.rstrip("/")
    bound = "/" in body
    parts = re.sub(r"\\(.)", r"\1", body).strip("/").split("/")
    regex = "" if bound else "(?:.*/)?"
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if part == "**":
            regex += ".*" if last else "(?:.*/)?"
        else:
            regex += "".join(_SPECIAL.get(char) or re.escape(char) for char in part) + ("" if last else "/")
    if pattern.endswith("/"):
        return regex + "/.*"
    direct = bound and parts[-1] == "*"
    return regex if direct or parts[-1] == "**" else regex + "(?:/.*)?"


_SPECIAL = {"*": "[^/]*", "?": "[^/]"}
