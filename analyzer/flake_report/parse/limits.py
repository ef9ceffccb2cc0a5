"""How much of a result file is held at once: past these, what was cut is said in a warning or in the text itself.

Together they keep a reader under 60 MB whatever the file. Sizes in characters, unless said.
"""

BLOCK_BYTES = 256 * 1024
"""What is decoded and scanned at once; fixed, so that no result depends on how the bytes arrive in chunks."""

TAG = 1024 * 1024
"""The longest tag that is read at once. A longer one is read attribute by attribute; nothing else may be so long."""

VALUE = 64 * 1024
"""The longest value of an attribute. Of a longer one the first and last `MESSAGE` / 2 are kept, less a mark between."""

ATTRIBUTES = 1000
"""Attributes of a tag that is read one by one. Later ones are not kept."""

DEPTH = 10_000
"""Elements inside one another. What is deeper is skipped."""

MESSAGE = 8 * 1024
"""A failure's message."""

TEXT = 64 * 1024
"""A failure's text with its captured output; the middle is cut."""

PARTS = 200
"""Failures, reruns and the like inside one case. Later ones are counted, not kept."""

HELD_BLOCK = 1024 * 1024
"""Cases that are packed together, where a file has so many that they are packed."""

HELD_BLOCKS = 4 * 1024 * 1024
"""Cases held as objects; of a file that has more, all are packed. In bytes, about."""

HELD_PACKED_BYTES = 16 * 1024 * 1024
"""Packed cases of one file. Past it they are given out as they come, and reruns among them are not told."""

EXACT_CASES = 100_000
"""Cases of which all identities are compared; of more, only those that a first, rough pass finds likely to be equal."""

REPEATED = 100_000
"""Tests that have more than one element in one file. Further ones stay apart, their attempts unknown."""

LINE_BYTES = 8 * 1024 * 1024
"""The longest line of an attempts file."""

JSON_ITEM = 8 * 1024 * 1024
"""The longest item of a JSON list, in characters."""

WARNINGS = 40
"""Different warnings of one file; the rest is a number."""
