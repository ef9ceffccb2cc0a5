"""Text from outside, made fit for one line of a log."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text with a question mark for each character that is none to print.

    A process gives itself any title: a line break in it would begin a line of the log, an escape would colour it.
    """
    return "".join(character if character.isprintable() else "?" for character in text)
