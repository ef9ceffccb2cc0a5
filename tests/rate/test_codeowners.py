"""CODEOWNERS against the examples of GitHub's own documentation, and git's reading of the same patterns."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.rate.codeowners import owner_of, parse_codeowners


def owner(text: str, path: str) -> str:
    rules, _ = parse_codeowners(text, "CODEOWNERS")
    return owner_of([path], rules)


MATCHES = {
    "a star matches everything": ("*", ["a.py", "x/y/z.py"], []),
    "an ending at any depth": ("*.js", ["a.js", "x/y/b.js"], ["a.ts"]),
    "a folder of the root with all below": ("/build/logs/", ["build/logs/a", "build/logs/b/c"], ["x/build/logs/a"]),
    "files right in a folder, none below": ("docs/*", ["docs/a.md"], ["docs/b/c.md", "x/docs/a.md"]),
    "a folder at any depth": ("apps/", ["apps/a", "x/apps/b/c"], ["apps"]),
    "a folder at the root": ("/docs/", ["docs/a", "docs/b/c"], ["x/docs/a"]),
    "a folder's name without a slash": ("/scripts", ["scripts", "scripts/a/b"], ["x/scripts/a"]),
    "stars for folders before": ("**/logs", ["logs/a", "build/logs/b", "x/y/logs/c"], ["logsx/a"]),
    "stars for folders between": ("a/**/b.py", ["a/b.py", "a/x/b.py", "a/x/y/b.py"], ["x/a/b.py"]),
    "stars for all below": ("/a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
    "one character": ("tests/?.py", ["tests/a.py"], ["tests/ab.py", "tests/.py"]),
    "a slash inside binds to the root": ("v1/core", ["v1/core/test_x.py"], ["tests/v1/core/test_x.py"]),
    "capitals matter": ("/Docs/", ["Docs/a"], ["docs/a"]),
    "a blank in the name": (r"/my\ docs/", ["my docs/a"], ["my/docs/a"]),
    "dots and plus are letters": ("a+b.py", ["a+b.py"], ["aab.py", "a+bxpy"]),
}


@pytest.mark.parametrize(("pattern", "matching", "others"), MATCHES.values(), ids=MATCHES.keys())
def test_a_pattern_matches_what_github_says(pattern, matching, others) -> None:
    assert {path: owner(f"{pattern} @a", path) for path in matching} == dict.fromkeys(matching, "@a")
    assert {path: owner(f"{pattern} @a", path) for path in others} == dict.fromkeys(others, "")


FILE = """\
# everyone's
*       @global-1 @global-2   # and a comment

*.js    @js-owner
*.go docs@example.com
/apps/ @octocat
/apps/github
"""


def test_the_last_line_that_matches_decides() -> None:
    assert owner(FILE, "a.py") == "@global-1 @global-2"
    assert owner(FILE, "x.js") == "@js-owner"
    assert owner(FILE, "x.go") == "docs@example.com"
    assert owner(FILE, "apps/x.js") == "@octocat"


def test_a_line_without_owners_takes_them_away() -> None:
    assert owner(FILE, "apps/github/x.py") == ""


def test_a_line_that_github_would_not_read_is_passed_over_and_told() -> None:
    rules, warnings = parse_codeowners("a.py nobody\n!b.py @a\n[ab].py @a\nc.py @c\n", "CODEOWNERS")
    assert [rule.pattern for rule in rules] == ["c.py"]
    assert ["line 1" in warnings[0], "line 2" in warnings[1], "line 3" in warnings[2]] == [True, True, True]


def test_gitlabs_sections_give_their_default_owners_and_what_is_not_read_is_said() -> None:
    text = "[Docs][2] @docs-team\ndocs/\nREADME.md @writer\n^[Tests]\n/tests/\n"
    rules, [warning] = parse_codeowners(text, "CODEOWNERS")
    assert [rule.owners for rule in rules] == ["@docs-team", "@writer", ""]
    assert "read as one list" in warning


def test_of_several_readings_of_a_path_the_last_line_that_matches_any_decides() -> None:
    rules, _ = parse_codeowners("* @all\n/tests/v1/ @v1\n", "CODEOWNERS")
    assert owner_of(["v1/test_x.py", "tests/v1/test_x.py"], rules) == "@v1"


NAMES = st.text("ab", min_size=1, max_size=2)
PATTERNS = st.builds(
    lambda parts, begin, end: begin + "/".join(parts) + end,
    st.lists(st.one_of(NAMES, NAMES.map("{}*".format), NAMES.map("?{}".format), st.just("**")), min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
    st.sampled_from(["", "/"]),
)


@settings(max_examples=25, deadline=None)
@given(PATTERNS, st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=8, unique=True))
def test_apart_from_a_last_star_it_reads_as_git_does(tmp_path_factory, pattern, paths) -> None:
    """Git reads the same pattern as a rule of .gitignore; only what stands below a folder's star differs."""
    folder = tmp_path_factory.getbasetemp() / "ignoring"
    if not folder.exists():
        folder.mkdir()
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".gitignore").write_text(pattern + "\n")
    git = ["git", "-C", str(folder), "check-ignore", "--no-index", "--stdin"]
    ignored = subprocess.run(git, input="\n".join(paths), capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    last = Path(pattern).name
    if last not in {"*", "**"}:
        assert {path for path in paths if owner(f"{pattern} @a", path)} == set(ignored) - {""}


def test_any_text_is_read_without_an_error() -> None:
    @given(st.text(max_size=200))
    def any_text(text: str) -> None:
        rules, _ = parse_codeowners(text, "CODEOWNERS")
        owner_of(["a/b.py"], rules)

    any_text()
