"""Makes job logs for measuring: realistic, seeded, with failure lines planted at known places.

    python tests/bench/make_logs.py FOLDER [--megabytes 2000] [--seed 1]

Writes FOLDER/000.log … and FOLDER/planted.json: `[{"log", "line", "text", "inside"}]`, where `line` counts from 1,
`text` is the planted message without prefixes and escapes, and `inside` says what stands within the message in the
file: "" (nothing), "colour" or "stamp". Everything that is not planted is the chatter of green jobs.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

from log_texts import FAILURES, chatter

FILE_BYTES = 4_700_000
CHUNK_LINES = 2_000
CHUNKS_A_STYLE = 24
STYLES = ("agent", "text", "github", "plain")
START_MS = 1_783_974_000_000


@dataclass(frozen=True)
class Planted:
    """One failure line: where it stands and what is inside it."""

    log: str
    line: int
    text: str
    inside: str


def dressed(text: str, style: str, clock: int, rng: Random) -> bytes:
    """One line as the collector of this style writes it; some lines take colours as a terminal program gives them."""
    if style in ("agent", "plain") and rng.random() < 0.2:
        word, space, rest = text.partition(" ")
        text = f"\x1b[3{rng.randint(1, 6)}m{word}\x1b[0m{space}{rest}"
    seconds, ms = divmod(clock, 1000)
    minutes = seconds // 60 % 1440
    time = f"2026-07-13T{minutes // 60:02}:{minutes % 60:02}:{seconds % 60:02}"
    if style == "agent":
        return f"\x1b_bk;t={START_MS + clock}\x07{text}\r\r\n".encode()
    if style == "text":
        return f"[{time}Z] {text}\n".encode()
    if style == "github":
        return f"{time}.{ms:03}{rng.randint(0, 9999):04}Z {text}\n".encode()
    return f"{text}\n".encode()


def with_inside(text: str, inside: str, rng: Random) -> str:
    """The message with a colour's start and end, or a second stamp, at a space within it."""
    words = text.split(" ")
    place = rng.randint(1, len(words) - 2)
    if inside == "colour":
        words[place] = f"\x1b[31m{words[place]}\x1b[0m"
    elif inside == "stamp":
        words[place] = f"\x1b_bk;t={START_MS + rng.randint(0, 10**7)}\x07{words[place]}"
    return " ".join(words)


def chunk(style: str, rng: Random) -> bytes:
    """Some thousand lines of a green job."""
    clock, lines = rng.randint(0, 10**6), []
    for text in chatter(rng, CHUNK_LINES):
        clock += rng.randint(0, 700)
        lines.append(dressed(text, style, clock, rng))
    return b"".join(lines)


def plants(rng: Random, log: str, line: int, style: str) -> tuple[bytes, Planted]:
    """A failure line for this place; one in four has something inside the message."""
    text = rng.choice(FAILURES)(rng)
    inside = rng.choices(["", "colour", "stamp"], [6, 1, 1])[0]
    inside = "" if inside == "stamp" and style != "agent" else inside
    raw = dressed(with_inside(text, inside, rng), style, rng.randint(0, 10**7), rng)
    return raw, Planted(log, line, text, inside)


def make(folder: Path, megabytes: int, seed: int) -> list[Planted]:
    """Writes the logs; the same arguments give the same bytes."""
    rng = Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    pool = {style: [chunk(style, rng) for _ in range(CHUNKS_A_STYLE)] for style in STYLES}
    planted: list[Planted] = []
    for number in range(max(1, megabytes * 1_000_000 // FILE_BYTES)):
        style = STYLES[number % len(STYLES)]
        name, size, line = f"{number:03}.log", 0, 0
        with (folder / name).open("wb") as out:
            while size < FILE_BYTES:
                for piece in rng.sample(pool[style], CHUNKS_A_STYLE):
                    out.write(piece)
                    size, line = size + len(piece), line + CHUNK_LINES
                    if rng.random() < 0.035:
                        raw, plant = plants(rng, name, line + 1, style)
                        out.write(raw)
                        size, line = size + len(raw), line + 1
                        planted.append(plant)
                    if size >= FILE_BYTES:
                        break
    rows = [{"log": one.log, "line": one.line, "text": one.text, "inside": one.inside} for one in planted]
    (folder / "planted.json").write_text(json.dumps(rows, indent=1) + "\n")
    return planted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    planted = make(asked.folder, asked.megabytes, asked.seed)
    inside = sum(bool(one.inside) for one in planted)
    print(f"{len(planted)} failure lines planted, {inside} with escapes inside")


if __name__ == "__main__":
    main()
