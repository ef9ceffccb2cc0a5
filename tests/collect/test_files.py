"""Files, standard input and pipes as a user names them."""

from __future__ import annotations

import errno
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from flake_report.collect.files import open_blob, salvaged
from flake_report.errors import FlakeReportError

LOG = b"one\ntwo\n" * 1000


def whole(blob: object) -> bytes:
    return b"".join(blob.read())  # type: ignore[attr-defined]  # a Blob


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("build.log", LOG, id="plain"),
        pytest.param("build.log.gz", gzip.compress(LOG), id="gzip"),
        pytest.param("build.log.zst", zstandard.compress(LOG), id="zstd"),
        pytest.param("build.log", gzip.compress(LOG), id="gzip under a plain name"),
        pytest.param("build.log.gz", LOG, id="plain under a gzip name"),
    ],
)
def test_a_file_is_read_by_its_content_and_any_number_of_times(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    blob = open_blob(str(tmp_path / name))
    assert blob.name == str(tmp_path / name)
    assert whole(blob) == LOG
    assert whole(blob) == LOG


@pytest.mark.parametrize("content", [LOG, gzip.compress(LOG), zstandard.compress(LOG)], ids=["plain", "gzip", "zstd"])
def test_standard_input_is_kept_so_that_it_can_be_read_again(content: bytes) -> None:
    blob = open_blob("-", io.BytesIO(content))
    assert blob.name == "standard input"
    assert whole(blob) == LOG
    assert whole(blob) == LOG


def test_two_readers_of_standard_input_do_not_disturb_each_other() -> None:
    big = os.urandom(600_000)
    blob = open_blob("-", io.BytesIO(big))
    first, second = blob.read(), blob.read()
    pairs = list(zip(first, second, strict=True))
    assert b"".join(one for one, _ in pairs) == b"".join(other for _, other in pairs) == big


def test_a_large_standard_input_moves_to_the_disk_and_is_whole() -> None:
    big = b"0123456789abcdef" * (2 << 20)  # 32 MiB, twice what is kept in memory
    blob = open_blob("-", io.BytesIO(big))
    assert whole(blob) == big
    assert whole(blob) == big


def test_a_pipe_named_by_the_shell_can_be_read_again(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'wb').write(b'through a pipe')"]):
        blob = open_blob(str(pipe))
        assert whole(blob) == b"through a pipe"
        assert whole(blob) == b"through a pipe"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FlakeReportError, match=r"missing\.log: there is no such file"):
        open_blob(str(tmp_path / "missing.log"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FlakeReportError, match="is a folder, not a file"):
        open_blob(str(tmp_path))


def test_a_file_below_a_file_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(FlakeReportError, match="a/b: cannot be read"):
        open_blob(str(tmp_path / "a" / "b"))


def test_a_name_that_no_file_can_have_is_one_sentence() -> None:
    with pytest.raises(FlakeReportError, match="cannot be read"):
        open_blob("a\0b")


def test_an_unreadable_file_says_why(tmp_path: Path) -> None:
    file = tmp_path / "secret.log"
    file.write_text("x")
    file.chmod(0)
    if os.access(file, os.R_OK):  # root reads everything: use a file that even root cannot read
        file = Path("/proc/self/mem")
        with pytest.raises(FlakeReportError, match="mem: cannot be read"):
            whole(open_blob(str(file)))
        return
    with pytest.raises(FlakeReportError, match=r"secret\.log: cannot be read \(Permission denied\)"):
        open_blob(str(file))


def test_a_file_that_vanishes_before_it_is_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x")
    blob = open_blob(str(tmp_path / "a.log"))
    (tmp_path / "a.log").unlink()
    with pytest.raises(FlakeReportError, match=r"a\.log: cannot be read \(No such file or directory\)"):
        whole(blob)


class Broken(io.RawIOBase):
    """An input that gives a little and then fails, as a lost network file system does."""

    def __init__(self) -> None:
        self._left = b"some"

    def read(self, _size: int = -1) -> bytes:
        if not self._left:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        left, self._left = self._left, b""
        return left


def test_a_standard_input_that_breaks_is_named() -> None:
    with pytest.raises(FlakeReportError, match=r"standard input: cannot be read \(Input/output error\)"):
        whole(open_blob("-", Broken()))  # type: ignore[arg-type]  # all that is used of it is `read`


def test_damage_becomes_a_warning_and_the_rest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(LOG) + gzip.compress(LOG)[:-9])
    warnings: list[str] = []
    got = b"".join(salvaged(open_blob(str(tmp_path / "cut.gz")), warnings.append))
    assert got.startswith(LOG)
    [warning] = warnings
    assert "cut.gz: the gzip data ends in the middle" in warning


def test_nothing_readable_at_all_stays_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.gz").write_bytes(b"\x1f\x8b\x08\x00rubbish")
    with pytest.raises(FlakeReportError, match=r"bad\.gz"):
        list(salvaged(open_blob(str(tmp_path / "bad.gz")), lambda _message: None))


def test_whole_data_is_salvaged_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(LOG)
    warnings: list[str] = []
    assert b"".join(salvaged(open_blob(str(tmp_path / "a.log")), warnings.append)) == LOG
    assert warnings == []
