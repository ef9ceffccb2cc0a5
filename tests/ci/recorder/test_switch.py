"""When the recorder is on, where it writes, and that it is never the reason why a job breaks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PASSES = "def test_it(): pass\n"


def test_it_does_nothing_unless_asked(runner):
    for value in ("", "0", "off"):
        run = runner.run(PASSES, GPU_GUARD_RECORD=value)
        assert run.code == 0
        assert not run.folder.exists()
        assert "gpu-guard" not in run.output
    loaded = runner.run(
        "import sys\ndef test_it(): assert 'gpu_guard.recorder.plugin' not in sys.modules\n", GPU_GUARD_RECORD=""
    )
    assert loaded.code == 0


def test_the_option_wins_over_the_environment(runner):
    run = runner.run(PASSES, "--gpu-guard-record=elsewhere")
    assert not run.folder.exists()
    assert len(list((runner.folder / "elsewhere").iterdir())) == 2
    assert f"recording to {runner.folder / 'elsewhere'}" in run.output


def test_a_bare_yes_writes_into_a_folder_of_its_own_name(runner):
    runner.run(PASSES, GPU_GUARD_RECORD="1")
    assert len(list((runner.folder / "gpu-guard").iterdir())) == 2


def test_the_users_own_junit_stays_as_it_would_be(runner):
    text = "import pytest\n@pytest.mark.parametrize('n', range(3))\ndef test_it(n): assert n\n"
    runner.run(text, "--junitxml=with.xml")
    runner.run(text, "--junitxml=without.xml", GPU_GUARD_RECORD="")
    texts = [(runner.folder / name).read_text() for name in ("with.xml", "without.xml")]
    plain = [re.sub(r'time(stamp)?="[^"]*"', "", text) for text in texts]
    assert plain[0] == plain[1]


def test_each_session_has_files_of_its_own(runner):
    runner.run(PASSES)
    runner.run(PASSES)
    assert len(list(runner.record.glob("attempts-*.jsonl"))) == 2
    assert len(list(runner.record.glob("junit-*.xml"))) == 2


def test_a_pytest_inside_a_test_is_no_session_of_the_job(runner):
    inner = "def test_inner(): assert 0\n"
    outer = """
import subprocess, sys
import pytest
COMMAND = [sys.executable, "-m", "pytest", "-p", "gpu_guard.recorder", "inner.py"]
def test_process(): assert subprocess.call(COMMAND) == 1
def test_function(): assert pytest.main(["inner.py"], plugins=[]) == 1
"""
    run = runner.run({"inner.py": inner, "test_it.py": outer}, "test_it.py")
    assert run.told == [("test_process", 0, "passed"), ("test_function", 0, "passed")]


def test_a_folder_that_cannot_be_made_is_said_and_changes_nothing(runner):
    run = runner.run(PASSES, GPU_GUARD_RECORD="/proc/nowhere")
    assert run.code == 0
    assert "recording stopped, the tests go on without: " in run.output
    assert "/proc/nowhere" in run.output
    assert "Traceback" not in run.output


def test_a_full_disk_is_said_and_changes_nothing(runner):
    """Linux has a device for this; the file that the recorder opens is made to be it."""
    conftest = """
import os
from gpu_guard.recorder import plugin, writer
class Full(writer.AttemptsFile):
    def __init__(self, path):
        self.path = path
        self._file = os.open("/dev/full", os.O_WRONLY)
plugin.new_attempts_file = lambda folder, name: Full(folder / name)
"""
    run = runner.run({"conftest.py": conftest, "test_it.py": PASSES})
    assert run.code == 0
    assert "No space left on device" in run.output
    assert "Traceback" not in run.output


def test_a_working_folder_that_cannot_be_written_is_no_hindrance(runner):
    runner.write(
        {
            "test_it.py": PASSES
            + "import os, pytest\ndef test_folder():\n    with pytest.raises(OSError): open('x', 'w')\n"
        }
    )
    runner.folder.chmod(0o555)
    # For root permissions are advice, unless it gives up the right to override them.
    bound = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []
    done = subprocess.run(
        [*bound, *runner.command("-p", "no:cacheprovider")],
        cwd=runner.folder, env=runner.environment(PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    (file,) = runner.record.glob("attempts-*.jsonl")
    assert [json.loads(line).get("outcome") for line in file.read_text().splitlines()] == [
        None,
        "passed",
        "passed",
        None,
    ]
    assert len(list(runner.record.glob("junit-*.xml"))) == 1


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The distribution as pip would lay it into an environment."""
    source = Path(__file__).resolve().parents[3] / "ci" / "gpu-guard-buildkite-plugin"
    wheels = tmp_path_factory.mktemp("wheels")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(source)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if "Connection" in done.stderr:
        pytest.skip("the package registry cannot be reached")
    assert done.returncode == 0, done.stderr
    (wheel,) = wheels.glob("gpu_guard-*.whl")
    target = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


@pytest.mark.parametrize("way", ["as an installed distribution", "both installed and named"])
def test_pytest_finds_it(way, installed, runner):
    runner.write({"test_it.py": PASSES})
    named = ["-p", "gpu_guard.recorder"] if way.startswith("both") else []
    also = {"PYTEST_PLUGINS": "gpu_guard.recorder"} if way.startswith("both") else {}
    environment = runner.environment(PYTHONPATH=str(installed), **also)
    del environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-W", "error", *named],
        cwd=runner.folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(runner.record.glob("attempts-*.jsonl"))) == 1


def test_the_environment_alone_can_load_it(runner):
    runner.write({"test_it.py": PASSES})
    environment = runner.environment(PYTEST_PLUGINS="gpu_guard.recorder")
    done = subprocess.run(
        [sys.executable, "-m", "pytest"],
        cwd=runner.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert len(list(runner.record.glob("attempts-*.jsonl"))) == 1


def test_an_option_that_nothing_would_come_of_is_refused(runner):
    runner.write({"test_it.py": PASSES})
    environment = runner.environment()
    del environment["GPU_GUARD_RECORD"]
    command = runner.command("--gpu-guard-tune")
    done = subprocess.run(command, cwd=runner.folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.strip() == (
        "ERROR: --gpu-guard-tune needs a folder to record to: --gpu-guard-record=DIR, or GPU_GUARD_RECORD=DIR"
    )
    assert runner.run(PASSES, "--gpu-guard-tune", GPU_GUARD_RECORD="0").code == 0
