"""Variables arrive in a shell as they were, whatever is in them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_guard.hooks.luggage import write_env
from gpu_guard.hooks.shell import add_to_env_file, exports

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=30)


def after(text: str, *names: str, shell: str = "sh") -> list[str]:
    script = text + "".join(f'printf "%s\\0" "${name}"\n' for name in names)
    done = subprocess.run([shell, "-c", script], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


@settings(max_examples=40, deadline=None)
@given(TEXTS)
def test_any_text_comes_out_of_the_shell_as_it_went_in(text: str) -> None:
    assert after(exports({"A": text}), "A") == [text]


def test_a_name_that_is_none_is_left_out() -> None:
    assert exports({"A B": "1", "x;rm": "2", "OK_1": "3"}) == "export OK_1=3\n"


def test_the_agents_list_of_a_jobs_variables_grows_by_lines_of_its_own_form(tmp_path: Path) -> None:
    path = tmp_path / "env"
    path.write_text('BUILDKITE_LABEL="a \\"step\\""\n')
    add_to_env_file(path, {"A": 'two\nlines "quoted"', "B": "1"}, ["A", "B"])
    assert path.read_text() == 'BUILDKITE_LABEL="a \\"step\\""\nA="two\\nlines \\"quoted\\""\nB="1"\n'


def test_the_file_of_variables_keeps_the_shells_own_path_behind_ours(tmp_path: Path) -> None:
    write_env(tmp_path, {"A": "it's", "PYTHONPATH": "not this"}, "/work dir/lib")
    text = (tmp_path / "env").read_text()
    assert after(text, "A", "PYTHONPATH") == ["it's", "/work dir/lib"]
    assert after("PYTHONPATH=/of/the/image\n" + text, "PYTHONPATH") == ["/work dir/lib:/of/the/image"]
    assert after("set -eu\n" + text, "PYTHONPATH") == ["/work dir/lib"]
