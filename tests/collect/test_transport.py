"""One request: what is tried again and for how long, where the token goes and where it does not."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from collect.server.clock import FakeTime
from collect.server.wire import Fault, Reply, Request, Server
from flake_report.collect.answer import Answer
from flake_report.collect.clock import Clock
from flake_report.collect.limits import RateLimits
from flake_report.collect.token import Token
from flake_report.collect.transport import (
    Patience,
    RefusedError,
    StoppedError,
    Transport,
    UnreachableError,
)

TOKEN = Token("made-up-for-tests", "x")


@pytest.fixture
def replies() -> dict[str, Reply]:
    return {"/": Reply(200, b"fine")}


@pytest.fixture
def server(replies: dict[str, Reply]) -> Iterator[Server]:
    with Server(lambda request: replies.get(request.path, Reply(404, b'{"message": "nothing here"}'))) as running:
        yield running


@pytest.fixture
def transport(time: FakeTime) -> Iterator[Transport]:
    with Transport(time.clock, Patience(tries=3, connect=1, read=0.3), RateLimits(time.clock)) as made:
        yield made


def text(answer: Answer) -> bytes:
    return b"".join(answer.body.chunks())


def sent_token(request: Request) -> bool:
    return "authorization" in request.headers


def test_a_redirect_to_another_host_goes_without_the_token(
    server: Server, replies: dict[str, Reply], transport: Transport
) -> None:
    with Server(lambda _request: Reply(200, b"the file")) as storage:
        replies["/download"] = Reply(302, b"{}", {"Location": f"{storage.url}/file?signature=secret"})
        assert transport.fetch(f"{server.url}/download", text, auth=TOKEN) == b"the file"
        assert [sent_token(request) for request in server.seen] == [True]
        assert [sent_token(request) for request in storage.seen] == [False]


def test_a_redirect_on_the_same_host_keeps_it_until_another_host_is_met(
    server: Server, replies: dict[str, Reply], transport: Transport
) -> None:
    with Server(lambda _request: Reply(302, b"", {"Location": f"{server.url}/"})) as other:
        replies["/a"] = Reply(307, b"", {"Location": "/b"})
        replies["/b"] = Reply(308, b"", {"Location": other.url})
        assert transport.fetch(f"{server.url}/a", text, auth=TOKEN) == b"fine"
        assert [sent_token(request) for request in server.seen] == [True, True, False]
        assert [sent_token(request) for request in other.seen] == [False]


def test_redirects_without_end_are_told(server: Server, replies: dict[str, Reply], transport: Transport) -> None:
    replies["/a"] = Reply(302, b"", {"Location": "/a"})
    with pytest.raises(UnreachableError, match="/a: it redirects without end"):
        transport.fetch(f"{server.url}/a", text)
    assert len(server.seen) == 5


def test_a_redirect_that_leads_nowhere_is_told(server: Server, replies: dict[str, Reply], transport: Transport) -> None:
    replies["/a"] = Reply(302, b"", {"Location": "ftp://host/file?signature=secret"})
    with pytest.raises(UnreachableError, match="no URL that can be asked") as raised:
        transport.fetch(f"{server.url}/a", text)
    assert "secret" not in str(raised.value)


def test_a_signed_url_is_never_shown(server: Server, replies: dict[str, Reply], transport: Transport) -> None:
    replies["/broken"] = Reply(500)
    with pytest.raises(UnreachableError) as unreachable:
        transport.fetch(f"{server.url}/broken?signature=secret", text)
    with pytest.raises(RefusedError) as refused:
        transport.fetch(f"{server.url}/none?signature=secret", text)
    assert "secret" not in str(unreachable.value) + str(refused.value)
    assert (refused.value.status, refused.value.said) == (404, "nothing here")


def test_pauses_double_and_chance_shortens_them(server: Server, replies: dict[str, Reply], time: FakeTime) -> None:
    replies["/broken"] = Reply(500)
    patience = Patience(tries=6, first_pause=1, longest_pause=5)
    with Transport(time.clock, patience) as transport, pytest.raises(UnreachableError, match=r"HTTP 500\), 6 times"):
        transport.fetch(f"{server.url}/broken", text)
    assert time.slept == (1 + 2 + 4 + 5 + 5) / 2  # the test's chance is always one half


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422])
def test_a_refusal_is_not_asked_again(
    server: Server, replies: dict[str, Reply], transport: Transport, status: int
) -> None:
    replies["/no"] = Reply(status, b"<html>", {"Content-Type": "text/html"})
    with pytest.raises(RefusedError, match=f"/no: HTTP {status}; check"):
        transport.fetch(f"{server.url}/no", text)
    assert len(server.seen) == 1


def test_a_429_is_no_failure_but_not_waited_for_for_ever(
    server: Server, replies: dict[str, Reply], transport: Transport, time: FakeTime
) -> None:
    busy = Fault("busy", Reply(429, b"", {"Retry-After": "30"}))
    server.fault = lambda number, _request: busy if number <= 10 else None
    assert transport.fetch(f"{server.url}/", text, auth=TOKEN) == b"fine"
    assert time.slept == pytest.approx(10 * 30.5)
    replies["/busy"] = Reply(429, b"", {"Retry-After": "30"})
    with pytest.raises(UnreachableError, match=r"too many requests \(HTTP 429\), 60 times"):
        transport.fetch(f"{server.url}/busy", text, auth=TOKEN)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("gone", cut=-1), "the answer broke off|the connection failed"),
        (Fault("half", cut=1), "the answer broke off"),
        (Fault("silent", stall=0.5), "no answer within 0.3 seconds"),
        (Fault("no gzip", Reply(200, b"plain", {"Content-Encoding": "gzip"})), "the answer is damaged"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_each_failure_has_its_words(server: Server, transport: Transport, fault: Fault, words: str) -> None:
    server.fault = lambda _number, _request: fault
    with pytest.raises(UnreachableError, match=words) as raised:
        transport.fetch(f"{server.url}/", text)
    assert "0x" not in str(raised.value)
    assert len(server.seen) == 3


def test_nobody_listening_is_told(transport: Transport) -> None:
    with Server(lambda _request: Reply()) as server:
        url = server.url
    with pytest.raises(UnreachableError, match=r"the connection failed \(Connection refused\), 3 times"):
        transport.fetch(url, text)


def test_a_name_that_nobody_knows_is_told(transport: Transport) -> None:
    with pytest.raises(UnreachableError, match=r"name cannot be resolved|connection failed"):
        transport.fetch("http://no-such-host.invalid/", text)


def test_a_server_without_tls_is_told_at_once(server: Server, transport: Transport) -> None:
    with pytest.raises(UnreachableError, match="speaks no TLS; check"):
        transport.fetch(server.url.replace("http:", "https:"), text)


def test_what_the_reader_calls_damaged_is_asked_for_again(server: Server, transport: Transport) -> None:
    seen: list[bytes] = []

    def read(answer: Answer) -> bytes:
        seen.append(text(answer))
        if len(seen) == 1:
            raise ValueError("not yet")
        return seen[-1]

    assert transport.fetch(f"{server.url}/", read) == b"fine"
    with pytest.raises(UnreachableError, match=r"the answer is damaged \(invalid literal.*\), 3 times"):
        transport.fetch(f"{server.url}/", lambda answer: int(text(answer)))


def test_compression_of_the_way_is_undone_or_kept_as_asked(
    server: Server, replies: dict[str, Reply], transport: Transport
) -> None:
    packed = gzip.compress(b"text")
    replies["/z"] = Reply(200, packed, {"Content-Encoding": "gzip"})
    assert transport.fetch(f"{server.url}/z", text) == b"text"
    assert transport.fetch(f"{server.url}/z", text, decode=False) == packed


def test_a_body_larger_than_memory_should_hold_is_whole(
    server: Server, replies: dict[str, Reply], time: FakeTime
) -> None:
    data = bytes(range(256)) * (80 << 10)
    replies["/large"] = Reply(200, data)
    with Transport(time.clock, Patience(tries=1, read=10)) as transport:
        assert transport.fetch(f"{server.url}/large", text) == data


def test_calling_off_ends_a_wait_and_all_that_follows(server: Server, replies: dict[str, Reply]) -> None:
    replies["/busy"] = Reply(429, b"", {"Retry-After": "3000"})
    with Transport(Clock()) as transport:
        ended: list[BaseException] = []

        def ask() -> None:
            try:
                transport.fetch(f"{server.url}/busy", text, auth=TOKEN)
            except StoppedError as error:
                ended.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        while not server.seen:
            threading.Event().wait(0.01)
        transport.stop()
        asking.join(5)
        assert len(ended) == 1
        with pytest.raises(StoppedError):
            transport.fetch(f"{server.url}/", text)


def test_a_password_of_netrc_is_not_sent(
    server: Server, transport: Transport, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    transport.fetch(f"{server.url}/", text)
    assert not sent_token(server.seen[0])


def test_a_proxy_of_the_environment_is_used(transport: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(lambda request: Reply(200, request.target.encode())) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        assert transport.fetch("http://buildkite.invalid/x", text) == b"http://buildkite.invalid/x"
