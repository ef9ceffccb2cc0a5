"""`annotate` on a build that lies in a folder; no agent is at hand, so that it prints what it would post."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import KNOWN_FAILURE
from flake_report import demo
from flake_report.cli import main

FLAKE, ODD = "AssertionError: the transfer took longer than 1.0 s", "ValueError: no such block"
JOB = "0196a0f3-aaaa-4000-8000-00000000000{}"


def junit(**messages: str | None) -> str:
    cases = "".join(
        f'<testcase classname="tests.test_a" name="{name}">'
        + (f'<failure message="{message}">E  {message}</failure>' if message else "")
        + "</testcase>"
        for name, message in messages.items()
    )
    return f'<testsuite name="pytest" timestamp="2026-11-29T06:00:00+00:00">{cases}</testsuite>'


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, and its export, of 24 builds in which `test_flaky` failed in three, apart from each other and alike."""
    folder = tmp_path_factory.mktemp("past")
    for at in range(24):
        job = folder / "history" / f"{at:02}" / "unit"
        job.mkdir(parents=True)
        bad = FLAKE if at in (3, 11, 17) else None
        text = junit(test_flaky=bad, test_good=None).replace("11-29", f"11-{at + 1:02}")
        (job / "junit.xml").write_text(text)
    store = str(folder / "store")
    assert main(["ingest", str(folder / "history"), "--store", store]) == 0
    assert main(["export", str(folder / "last-week"), "--store", store]) == 0
    return folder


@pytest.fixture
def baseline(home: Path, past: Path) -> Path:
    """The export, in the working folder; the store lies elsewhere."""
    shutil.copytree(past / "last-week", home / "last-week")
    return home / "last-week"


@pytest.fixture
def annotated(run: Callable, home: Path) -> Callable[..., dict]:
    """What is told of a build whose jobs left these files, by path."""

    def tell(files: dict[str, str], *options: object) -> dict:
        for name, text in files.items():
            path = home / "this" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        ran = run("annotate", "this", "--format", "json", *options)
        return {**json.loads(ran.out), "status": ran.status, "err": ran.err}

    return tell


def kinds(told: dict) -> dict[str, str]:
    return {failure["test"]: failure["kind"] for failure in told["failures"]}


@pytest.mark.usefixtures("baseline")
def test_known_flakes_new_failures_and_gpu_memory_are_told_apart(annotated: Callable) -> None:
    told = annotated(
        {
            "unit/junit.xml": junit(test_flaky=FLAKE, test_good=ODD),
            "gpu/job.log": f"--- tests\n{KNOWN_FAILURE}\n🚨 Error: The command exited with status 1\n",
        },
        "--baseline", "last-week",
    )  # fmt: skip
    assert kinds(told) == {"test_a::test_flaky": "flake", "test_a::test_good": "new", None: "gpu-memory"}
    assert (told["style"], told["context"], told["posted"], told["status"]) == ("error", "flake-report", False, 0)
    assert "too little free when the engine started" in next(
        one["why"] for one in told["failures"] if one["kind"] == "gpu-memory"
    )
    assert "4.51 of 22.05 GiB free" in told["body"]


@pytest.mark.usefixtures("baseline")
def test_a_known_flake_in_another_way_is_new_and_alone_it_is_a_warning(annotated: Callable) -> None:
    assert kinds(annotated({"unit/junit.xml": junit(test_flaky=ODD)}, "--baseline", "last-week")) == {
        "test_a::test_flaky": "new"
    }
    told = annotated({"unit/junit.xml": junit(test_flaky=FLAKE)}, "--baseline", "last-week")
    assert (kinds(told), told["style"]) == ({"test_a::test_flaky": "flake"}, "warning")


def test_a_store_knows_what_its_export_knows(annotated: Callable, baseline: Path, past: Path) -> None:
    files = {"unit/junit.xml": junit(test_flaky=FLAKE, test_good=ODD)}
    of_store = annotated(files, "--store", past / "store")
    assert of_store["failures"] == annotated(files, "--baseline", baseline)["failures"]


@pytest.mark.usefixtures("baseline")
@pytest.mark.parametrize(
    ("options", "status"),
    [((), 0), (("--fail-on", "new"), 1), (("--fail-on", "gpu-memory", "--fail-on", "regression"), 0)],
    ids=["nobody asks", "new failures", "others"],
)
def test_the_exit_status_says_no_more_than_is_asked(annotated: Callable, options: tuple, status: int) -> None:
    told = annotated({"unit/junit.xml": junit(test_good=ODD)}, "--baseline", "last-week", *options)
    assert told["status"] == status


@pytest.mark.usefixtures("home")
def test_files_belong_to_the_job_whose_id_their_path_holds(annotated: Callable) -> None:
    first, second = JOB.format(1), JOB.format(2)
    told = annotated(
        {f"junit-{first}-1.xml": junit(a=ODD), f"{second}/x/junit.xml": junit(a=ODD), "loose.xml": junit(b=ODD)}
    )
    assert [(failure["test"], failure["job"]) for failure in told["failures"]] == [
        ("test_a::a", first), ("test_a::a", second), ("test_a::b", "this job"),
    ]  # fmt: skip
    assert f"[job](#{first})" in told["body"]


@pytest.mark.usefixtures("home")
def test_without_history_nothing_is_called_new_even_where_new_ones_should_fail_the_job(annotated: Callable) -> None:
    told = annotated({"unit/junit.xml": junit(test_good=ODD)}, "--baseline", "nowhere", "--fail-on", "new")
    assert (kinds(told), told["status"]) == ({"test_a::test_good": "unclear"}, 0)
    assert told["err"] == (
        "flake-report: nowhere/flakes.json: there is no such file; a baseline is a folder that flake-report export "
        "wrote: this build is compared with nothing\n"
    )


@pytest.mark.usefixtures("home")
def test_results_that_are_not_there_fail_nothing(run: Callable) -> None:
    ran = run("annotate", "no-such-folder")
    assert ran.status == 0
    assert ran.out.startswith("**No test results were found in this build**\n")
    assert ran.err == "flake-report: no-such-folder: there is no such file or folder; left out\n"


@pytest.mark.usefixtures("home")
def test_what_cannot_be_told_fails_nothing(run: Callable) -> None:
    demo.write_history(Path("archive"))
    for arguments, says in (
        (["--store", "nowhere"], "nowhere"),
        (["archive", "--fail-on", "new"], "archive: holds 72 builds; give the folder of one: no annotation is written"),
    ):
        ran = run("annotate", *arguments)
        assert (ran.status, ran.out) == (0, "")
        assert says in ran.err
        assert ran.err.endswith(": no annotation is written\n")


@pytest.mark.usefixtures("home")
def test_damaged_results_are_a_warning(annotated: Callable) -> None:
    told = annotated({"unit/junit.xml": "<testsuite><testcase name='a'"})
    assert told["status"] == 0
    assert "junit.xml" in told["err"]


@pytest.mark.usefixtures("home")
def test_the_history_alone_is_what_a_weekly_build_says(run: Callable, past: Path) -> None:
    ran = run("annotate", "--store", past / "store", "--format", "json")
    told = json.loads(ran.out)
    assert (told["context"], told["style"]) == ("flake-report-weekly", "info")
    assert "#### 1 test that failed" in told["body"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--fail-on", "new"), "--fail-on is about the failures of this build; name its FILEs"),
        (("x", "--context", "x" * 101), "--context takes at most 100 characters"),
        (("x", "--fail-on", "odd"), "is not one of 'new', 'regression'"),
    ],
)
def test_what_cannot_be_meant_is_refused(run: Callable, options: tuple, says: str) -> None:
    ran = run("annotate", *options)
    assert ran.status == 2
    assert says in ran.err


def test_with_a_baseline_it_loads_nothing_of_the_store(baseline: Path) -> None:
    (baseline.parent / "this").mkdir()
    (baseline.parent / "this" / "junit.xml").write_text(junit(test_good=ODD))
    heavy = "{'duckdb', 'deltalake', 'pandas', 'pyarrow', 'scipy', 'numpy', 'junitparser'}"
    program = (
        "import sys\nfrom flake_report.cli import main\n"
        "assert main(['annotate', 'this', '--baseline', 'last-week']) == 0\n"
        f"print(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=baseline.parent, capture_output=True, text=True, check=True
    )
    assert ran.stderr.strip() == "[]"
    assert "1 failure of 1 test in 1 job: 1 new" in ran.stdout


@pytest.mark.usefixtures("home")
def test_a_history_as_markdown_is_for_a_comment(run: Callable, past: Path) -> None:
    store = past / "store"
    ran = run("show", "--store", store, "--format", "markdown")
    assert ran.status == 0
    assert ran.out.startswith("**all branches · 2026-11-01 to 2026-11-24 · 24 builds** · budget 0.5 %\n")
    assert "| 12.5&nbsp;%&nbsp;(" in ran.out
    assert run("show", "--store", store, "--format", "markdown", "--why", "x").status == 2
