"""An earlier export in a folder, on a web server, and in a bucket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from collect.server.clock import FakeTime
from flake_report.collect.baseline import exported
from flake_report.errors import FlakeReportError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "last week").mkdir()
    (tmp_path / "last week" / "flakes.json").write_bytes(b'{"a": 1}')
    return tmp_path


@pytest.fixture
def web(folder: Path) -> Iterator[str]:
    asked = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(asked, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("ending", ["", "/", "/flakes.json"], ids=["the folder", "with a stroke", "the file itself"])
def test_a_file_of_a_folder_is_read_and_named(folder: Path, ending: str) -> None:
    place = folder / "last week"
    assert exported(f"{place}{ending}", "flakes.json") == (str(place / "flakes.json"), b'{"a": 1}')


@pytest.mark.parametrize("ending", ["", "/", "/flakes.json", "?signature=secret", "/flakes.json?signature=secret"])
def test_a_file_of_a_web_server_is_read_and_named_without_its_signature(web: str, ending: str) -> None:
    place = f"{web}/last%20week"
    assert exported(f"{place}{ending}", "flakes.json") == (f"{place}/flakes.json", b'{"a": 1}')


def test_a_file_that_is_not_there_is_one_sentence(folder: Path, web: str) -> None:
    with pytest.raises(FlakeReportError, match="there is no such file; a baseline is a folder that"):
        exported(str(folder), "report.json")
    with pytest.raises(FlakeReportError, match=r"/report\.json: HTTP 404; check the URL"):
        exported(web, "report.json")


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(FlakeReportError, match="3 times"):
        exported("http://127.0.0.1:9/x", "report.json", FakeTime().clock)
