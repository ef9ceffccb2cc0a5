"""What lies in the checkout for a container, and what is taken out of there again: anything may lie there by then."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ci.plugin.conftest import PLUGIN, clean_environment
from gpu_guard.hooks import harvest as harvesting
from gpu_guard.hooks.harvest import harvest
from gpu_guard.hooks.luggage import pack


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    return folder


def taken(checkout: Path, tmp_path: Path) -> tuple[list[str], list[str]]:
    target = tmp_path / "target"
    target.mkdir(exist_ok=True)
    return harvest(checkout, target)


def test_pytest_finds_the_packed_recorder_by_itself_and_nothing_else_of_ours(checkout: Path) -> None:
    folder = pack(checkout)
    (checkout / "test_a.py").write_text("def test_a(): pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_a.py"], cwd=checkout, capture_output=True, text=True, check=True,
        env={**clean_environment(), "PYTHONPATH": str(folder / "lib"), "GPU_GUARD_RECORD": str(folder / "record")},
    )  # fmt: skip
    assert "1 passed" in done.stdout
    assert len(list((folder / "record").glob("attempts-*.jsonl"))) == 1
    assert {path.name.partition("-")[0] for path in (folder / "lib").iterdir()} == {"gpu_guard"}
    assert not (folder / "lib" / "gpu_guard" / "hooks").exists()


def test_a_path_that_leads_nowhere_harms_no_tests(checkout: Path) -> None:
    (checkout / "test_a.py").write_text("def test_a(): pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_a.py"], cwd=checkout, capture_output=True, text=True, check=True,
        env={**clean_environment(), "PYTHONPATH": "/nowhere/lib", "GPU_GUARD_RECORD": "/nowhere/record"},
    )  # fmt: skip
    assert "1 passed" in done.stdout


def test_packing_again_leaves_nothing_of_the_job_before(checkout: Path) -> None:
    old = pack(checkout) / "record" / "attempts-old.jsonl"
    old.write_text("{}\n")
    pack(checkout)
    assert not old.exists()


def test_a_folder_that_cannot_be_removed_is_not_written_into(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the agent's user meets what a container's root left: a link in it may lead anywhere."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (checkout / ".gpu-guard").mkdir()
    (checkout / ".gpu-guard" / ".gitignore").symlink_to(victim)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)  # root, who runs tests here, may remove anything
    with pytest.raises(FileExistsError):
        pack(checkout)
    assert victim.read_text() == "precious"


def test_a_link_in_place_of_the_folder_is_replaced_and_what_it_led_to_stays(checkout: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("")
    (checkout / ".gpu-guard").symlink_to(elsewhere)
    pack(checkout)
    assert [path.name for path in elsewhere.iterdir()] == ["kept"]
    assert not (checkout / ".gpu-guard").is_symlink()


def test_another_user_may_write_recordings_and_every_cache_lies_in_a_folder_of_ours(checkout: Path) -> None:
    folder = pack(checkout)
    assert stat.S_IMODE((folder / "record").stat().st_mode) == 0o1777
    packages = {path.parent for path in (folder / "lib" / "gpu_guard").rglob("*.py")}
    assert all((package / "__pycache__").is_dir() for package in packages)


def test_recordings_are_taken_and_other_files_are_not(checkout: Path, tmp_path: Path) -> None:
    record = pack(checkout) / "record"
    for name in ("attempts-a.jsonl", "junit-a.xml", "core.1234", "attempts-a.jsonl.tmp"):
        (record / name).write_text(name)
    assert taken(checkout, tmp_path) == (["attempts-a.jsonl", "junit-a.xml"], [])
    assert (tmp_path / "target" / "junit-a.xml").read_text() == "junit-a.xml"


def test_nothing_but_plain_files_is_taken(checkout: Path, tmp_path: Path) -> None:
    record = pack(checkout) / "record"
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (record / "attempts-link.jsonl").symlink_to(secret)
    os.mkfifo(record / "attempts-pipe.jsonl")
    (record / "attempts-folder.jsonl").mkdir()
    names, left = taken(checkout, tmp_path)
    assert names == []
    assert len(left) == 3
    assert list((tmp_path / "target").iterdir()) == []


@pytest.mark.parametrize("name", [".gpu-guard", ".gpu-guard/record"])
def test_a_folder_that_the_job_put_a_link_in_place_of_is_not_entered(checkout: Path, tmp_path: Path, name: str) -> None:
    pack(checkout)
    outside = tmp_path / "outside"
    (outside / "record").mkdir(parents=True)
    for folder in (outside, outside / "record"):
        (folder / "attempts-a.jsonl").write_text("secret")
    (checkout / name).rename(tmp_path / "moved")
    (checkout / name).symlink_to(outside)
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        taken(checkout, tmp_path)


def test_a_disk_that_takes_no_more_is_one_sentence(checkout: Path) -> None:
    """No file may grow beyond two KiB here, so most of the recorder's modules cannot be copied."""
    script = (
        "import resource, sys; from pathlib import Path; from gpu_guard.hooks.luggage import pack\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))\n"
        "try: pack(Path(sys.argv[1]))\n"
        "except OSError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, checkout], capture_output=True, text=True, check=True,
        env={**clean_environment(), "PYTHONPATH": str(PLUGIN)},
    )  # fmt: skip
    assert done.stdout.startswith("[Errno 27] File too large: ")
    assert len(done.stdout.splitlines()) == 1
    assert done.stdout.count("Errno") == 1


def test_a_file_beyond_all_measure_is_left_and_said(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harvesting, "LARGEST", 10)
    (pack(checkout) / "record" / "junit-a.xml").write_text("x" * 11)
    assert taken(checkout, tmp_path) == ([], ["junit-a.xml is not uploaded: it has 0 MiB"])


def test_a_checkout_without_recordings_is_an_error_that_the_caller_knows(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        taken(checkout, tmp_path)
