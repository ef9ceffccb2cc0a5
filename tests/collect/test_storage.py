"""A folder and a bucket behave alike; the bucket is that of a real S3 server on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flake_report.collect.storage import LocalFolder, MissingError, Storage, open_storage
from flake_report.errors import FlakeReportError

ODD = "artifacts/a b~1+2(x)=é,@[gpu].xml.zst"


@pytest.fixture(params=["a folder", "a bucket"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return open_storage(str(tmp_path) if request.param == "a folder" else request.getfixturevalue("bucket"))


class LostConnectionError(Exception):
    """Something that a source of bytes may raise."""


def breaking() -> Iterator[bytes]:
    yield b"half"
    raise LostConnectionError


def content(storage: Storage, path: str) -> bytes:
    return b"".join(storage.read(path))


def test_what_is_written_is_read(storage: Storage) -> None:
    storage.write("acme/ci/7/build.json.zst", [b"one ", b"", b"two"])
    storage.write(f"acme/ci/7/{ODD}", [b"odd"])
    storage.write("acme/ci/7/empty", [])
    assert content(storage, "acme/ci/7/build.json.zst") == b"one two"
    assert content(storage, f"acme/ci/7/{ODD}") == b"odd"
    assert content(storage, "acme/ci/7/empty") == b""
    assert storage.files("acme/ci/7") == sorted(["build.json.zst", "empty", ODD])
    assert storage.files("") == sorted(f"acme/ci/7/{name}" for name in ("build.json.zst", "empty", ODD))


def test_a_large_file_survives(storage: Storage) -> None:
    data = os.urandom(1 << 20) * 20
    storage.write("large", [data[at : at + 300_000] for at in range(0, len(data), 300_000)])
    assert content(storage, "large") == data


def test_folders_are_those_right_below(storage: Storage) -> None:
    for path in ("acme/ci/7/a", "acme/ci/12/a", "acme/other/1/a", "acme/file"):
        storage.write(path, [b"x"])
    assert storage.folders("") == ["acme"]
    assert storage.folders("acme") == ["ci", "other"]
    assert storage.folders("acme/ci") == ["12", "7"]
    assert storage.folders("acme/ci/7") == storage.folders("nowhere") == storage.folders("acme/file") == []


def test_a_newer_file_replaces_an_older(storage: Storage) -> None:
    storage.write("a", [b"old and longer"])
    storage.write("a", [b"new"])
    assert content(storage, "a") == b"new"


def test_what_is_missing_is_missing(storage: Storage) -> None:
    storage.write("here/a", [b"x"])
    assert storage.has("here/a")
    assert not storage.has("here")
    assert not storage.has("here/b")
    assert storage.files("nowhere") == []
    for path in ("here/b", "nowhere/a", "here/a/b"):
        with pytest.raises(MissingError, match=path):
            content(storage, path)


def test_a_source_that_breaks_leaves_the_old_file_and_keeps_its_error(storage: Storage) -> None:
    storage.write("a", [b"old"])
    with pytest.raises(LostConnectionError):
        storage.write("a", breaking())
    with pytest.raises(LostConnectionError):
        storage.write("b", breaking())
    assert content(storage, "a") == b"old"
    assert storage.files("") == ["a"]


def test_of_many_writers_of_one_file_one_wins_whole(storage: Storage) -> None:
    def write(letter: bytes) -> None:
        for _ in range(5):
            storage.write("contended", [letter * 1000] * 300)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    data = content(storage, "contended")
    assert len(data) == 300_000
    assert len(set(data)) == 1


def test_the_trail_ends_with_the_folders_of_the_path(storage: Storage) -> None:
    assert storage.trail("acme/ci/7")[-3:] == ["acme", "ci", "7"]
    assert storage.place("acme/ci").endswith("/acme/ci")
    assert not storage.place("").endswith("/")


def test_a_bucket_that_is_not_there_is_named_with_its_url(bucket: str) -> None:
    storage = open_storage(bucket.replace("s3://bucket/", "s3://no-such-bucket/"))
    with pytest.raises(FlakeReportError, match=r"^s3://no-such-bucket/.*NoSuchBucket"):
        storage.folders("")


def test_a_scheme_that_nobody_knows_is_named() -> None:
    with pytest.raises(FlakeReportError, match=r"^s4://bucket: the object store refuses"):
        open_storage("s4://bucket/")


def test_sweeping_removes_what_dead_writers_left_and_nothing_else(tmp_path: Path) -> None:
    storage = LocalFolder(tmp_path)
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom flake_report.collect.storage import LocalFolder\n"
        "def chunks():\n    yield b'x'\n    os.kill(os.getpid(), 9)\n"
        "LocalFolder(Path(sys.argv[1])).write('job/log', chunks())\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    [dead] = (tmp_path / "job").iterdir()
    assert storage.files("job") == []
    living = dead.with_name(dead.name.replace(dead.name.split("-")[-2], str(os.getpid())))
    elsewhere = dead.with_name(f".other-host-1-{dead.name.rsplit('-', 1)[1]}")
    old = dead.with_name(f".another-host-1-{dead.name.rsplit('-', 1)[1]}")
    for file in (living, elsewhere, old):
        file.write_bytes(b"")
    os.utime(old, (1, 1))
    storage.write("job/job.json", [b"{}"])
    storage.sweep("job")
    assert sorted(path.name for path in (tmp_path / "job").iterdir()) == sorted(
        ["job.json", living.name, elsewhere.name]
    )


def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object) -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    for ask in (LocalFolder(tmp_path).folders, LocalFolder(tmp_path).files):
        with pytest.raises(FlakeReportError, match=r"cannot be read \(Permission denied\); check its permissions"):
            ask("")
