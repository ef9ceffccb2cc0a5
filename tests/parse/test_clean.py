"""Raw lines in the forms that agents, terminals and collectors write, and what a person reads of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.parse.joblog import OVERWRITTEN, clean, unprefix

ERASED = b"\x1b[K\x1b_bk;t=1745322210213\x07\r"

LINES = {
    "an agent's own line ends with one return": (b"\x1b_bk;t=1745322209921\x07~~~ Run hook\r\n", "~~~ Run hook"),
    "a child's line through a terminal ends with two": (b"Cloning into '.'...\r\r\n", "Cloning into '.'..."),
    "a second stamp hides nothing": (b"\x1b_bk;t=921\x07first \x1b_bk;t=922\x07second", "first second"),
    "a delta stamp": (b"\x1b_bk;dt=23\x07text", "text"),
    "a stamp with further keys": (b"\x1b_bk;t=12345;p=np\x07text", "text"),
    "a stamp that is no number": (b"\x1b_bk;t=invalid\x07content", "content"),
    "a stamp that the end cuts off": (b"\x1b_bk;t=1745322209921", ""),
    "a cut stamp behind text": (b"incomplete BK timestamp: \x1b_bk;t=123", "incomplete BK timestamp:"),
    "a stamp that a tail began inside of": (b"5322209921\x07text", "text"),
    "a stamp that a tail cut the escape of": (b"_bk;t=17453\x07text", "text"),
    "a text stamp": (b"[2026-01-26T17:25:37Z] text", "text"),
    "a text stamp of an empty line": (b"[2026-07-13T19:39:31Z]", ""),
    "a text stamp with a fraction": (b"[2026-01-26T17:25:37.123Z] text", "text"),
    "a docker stamp": (b"2026-01-26T17:25:37.123456789Z text", "text"),
    "a Kubernetes stamp": (b"2026-01-26T17:25:37.123456789Z stderr F text", "text"),
    "a GitHub stamp behind a byte order mark": (b"\xef\xbb\xbf2026-07-30T10:55:18.2467887Z text", "text"),
    "a collector's stamp before the agent's": (b"2026-01-26T17:25:37.1Z \x1b_bk;t=921\x07text", "text"),
    "two collectors' stamps": (b"[2026-01-26T17:25:37Z] 2026-01-26T17:25:37.1Z text", "text"),
    "a syslog stamp": (b"Jan 28 23:59:42.123 text", "text"),
    "a quoted line": (b"> (EngineCore pid=407) ValueError: x", "(EngineCore pid=407) ValueError: x"),
    "a line that pytest points at is no quote": (b">       raise x", ">       raise x"),
    "an indented bar": (b"  | (EngineCore_DP0 pid=6804)     raise", "(EngineCore_DP0 pid=6804)     raise"),
    "a compose prefix": (b"web-1  | started", "started"),
    "a table's bar stays": (b"|   0  NVIDIA L4   Off |", "|   0  NVIDIA L4   Off |"),
    "colours": (b"\x1b[31m\x1b[1mFAILED\x1b[0m a.py::\x1b[1mtest\x1b[0m", "FAILED a.py::test"),
    "a 24-bit colour": (b"\x1b[38;2;10;20;30mred\x1b[0m", "red"),
    "a colour with colons": (b"\x1b[4:3mcurly\x1b[0m", "curly"),
    "colours that a viewer spelled out": (b"^[[0;36m(Worker pid=1)^[[0;0m text", "(Worker pid=1) text"),
    "a hyperlink ended by ST": (b"\x1b]8;;https://a.example/\x1b\\Goo\x1b]8;;\x1b\\gle", "Google"),
    "a hyperlink ended by BEL": (b"\x1b]8;;https://a.example/\x07Goo\x1b]8;;\x07gle", "Google"),
    "an iTerm image": (b"\x1b]1337;File=name=YQ==;inline=1:AAAA\x07after", "after"),
    "an agent's image shows its words": (b"\x1b]1338;url=artifact://a.gif;alt=Rainbows\x07\r\r\n", "Rainbows"),
    "an agent's link shows its words": (b"\x1b]1339;url='https://b.example/';content='Buildkite'\x07", "Buildkite"),
    "a link without words": (b"see \x1b]1339;url=https://b.example/\x07", "see"),
    "an image that never ends": (b"\x1b]1337;File=name=YQ== ValueError: x", "1337;File=name=YQ== ValueError: x"),
    "a character set": (b"\x1b(Btext\x1b)0", "text"),
    "keypad and cursor modes": (b"\x1b=\x1b[?25l\x1b[?1049htext\x1b>", "text"),
    "a device control string": (b"\x1bPq#0;2\x1b\\text", "text"),
    "cursor up and erase": (b"\x1b[1A\x1b[2Ktext", "text"),
    "a gap made by moving the cursor": (b"a\x1b[3Cb", "a   b"),
    "a note that Jenkins hides": (b"\x1b[8mha:////4AAA=\x1b[0mtext", "text"),
    "an escape at the end": (b"text\x1b", "text"),
    "nulls and other control bytes": (b"\0te\x08xt\x7f\0\r\n", "text"),
    "tabs stay": (b"FAIL\tpkg\t0.01s", "FAIL\tpkg\t0.01s"),
    "bytes that are no UTF-8": (b"caf\xe9 \xf0\x9f", "caf\ufffd \ufffd"),
    "wide characters": ("🚨 Error".encode(), "🚨 Error"),
    "an empty line": (b"\r\n", ""),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "text"), LINES.values(), ids=LINES)
def test_a_person_reads(raw: bytes, text: str) -> None:
    assert clean(raw) == text


def test_the_last_of_overwritten_texts_comes_first_and_none_is_lost() -> None:
    raw = b"Counting:   1%" + ERASED + b"ValueError: lost?" + ERASED + b"Counting: 100%, done.\r\r\n"
    assert clean(raw).split(OVERWRITTEN) == ["Counting: 100%, done.", "Counting:   1%", "ValueError: lost?"]


def test_going_back_to_the_first_column_overwrites_too() -> None:
    assert clean(b"waiting\x1b[0Gdone").split(OVERWRITTEN) == ["done", "waiting"]


def test_the_message_of_a_coloured_line_in_a_pasted_log_is_whole() -> None:
    raw = (
        b"[2026-01-26T17:25:37Z] \x1b[0;36m(EngineCore_DP0 pid=738)\x1b[0;0m \x1b[31mERROR\x1b[0m "
        b"\x1b[90m01-26 09:25:37\x1b[0m \x1b[90m[core.py:935]\x1b[0m ValueError: Free memory on device cuda:0"
    )
    assert clean(raw).startswith("(EngineCore_DP0 pid=738) ERROR 01-26 09:25:37 [core.py:935] ValueError: ")
    assert unprefix(clean(raw)) == "ValueError: Free memory on device cuda:0"


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("(EngineCore pid=904) ERROR 11-30 10:44:51 [core.py:1195]     raise e", "    raise e"),
        ("(VllmWorker rank=3 pid=20493) INFO 03-05 07:15:39 [v1/worker.py:40] up", "up"),
        ("(VllmWorkerProcess pid=20493) ERROR 03-05 07:15:39 multiproc_worker_utils.py:240] RuntimeError: x", None),
        ("[rank0]: ValueError: x", "ValueError: x"),
        ("[Stage-1] (EngineCore pid=3) ValueError: x", "ValueError: x"),
        ("ValueError: x", "ValueError: x"),
        ("INFO: no prefix", "INFO: no prefix"),
    ],
)
def test_process_and_level_are_taken_off(text: str, bare: str | None) -> None:
    assert unprefix(text) == (text.split("] ", 1)[1] if bare is None else bare)


pieces = st.sampled_from(
    [
        b"\x1b",
        b"[",
        b"]",
        b"_bk;t=",
        b"12",
        b"\x07",
        b"\\",
        b"m",
        b";",
        b"\r",
        b"\0",
        b"\xff",
        b"^[[",
        b"> ",
        b"a",
        b" ",
    ]
)


@given(st.one_of(st.binary(), st.lists(pieces).map(b"".join)))
def test_any_bytes_give_a_line_of_printable_text(raw: bytes) -> None:
    text = clean(raw)
    assert not any(letter in text for letter in "\x1b\x07\0\r\n")
    assert text == text.rstrip()
    assert unprefix(text) in text


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="^[>|"), min_size=1))
def test_plain_text_is_left_alone(text: str) -> None:
    assert clean(text.encode()).strip() in text


@given(st.lists(st.sampled_from("ab c"), min_size=1).map("".join), st.integers(0, 60), st.sampled_from(
    [b"\x1b[31m", b"\x1b[0m", b"\x1b_bk;t=1745322209921\x07", b"\x1b[K", b"\x1b]8;;u\x07"]
))  # fmt: skip
def test_an_escape_anywhere_changes_nothing(text: str, place: int, escape: bytes) -> None:
    raw = text.encode()
    assert clean(raw[:place] + escape + raw[place:]) == clean(raw)
