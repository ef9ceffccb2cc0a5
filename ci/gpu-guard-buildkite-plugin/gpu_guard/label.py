"""What names a step that has no key: its label without emoji and shard suffix, the same in every build and shard.

`label.cases.json` beside this file holds the rule as worked cases; whatever else reads labels is tested by it too.
"""

from __future__ import annotations

import re

_SHORTCODE = re.compile(r"(?<![\w:])(?::[a-z0-9_+-]+:)+")
# By code point and not by Unicode category: Pythons know different ages of Unicode, and each year brings new emoji.
_EMOJI = re.compile(
    "[0-9#*]\ufe0f?\u20e3|[^\x00-\x7f]\ufe0f|"
    "[\u200d\ufe0f\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001fbff\U000e0020-\U000e007f]"
)
_OF = r"\s*(?:/|\bof\b)\s*"
_PLACE = rf"(?:(?:shard|part)\s+)?(?:#?\d+{_OF}\d+|%n(?:{_OF}(?:\d+|%[nt]))?)|shard\s+#?\d+"
_SHARD = re.compile(rf"(?:\s*\(\s*(?:{_PLACE})\s*\)|\s*\[\s*(?:{_PLACE})\s*\]|(?<![\w./])(?:{_PLACE}))$", re.IGNORECASE)
_NUMBER = re.compile(r"\s+(?:#?\d+|\(#?\d+\)|\[#?\d+\])$")
_SEPARATORS = " -–—:|,"


def plain_label(label: str, *, parallel: bool) -> str:
    """The label as it groups jobs. A bare number at its end is a shard only in a `parallel` job."""
    text = " ".join(_EMOJI.sub("", _SHORTCODE.sub(" ", label)).split())
    whole = _SHARD.sub("", text)
    if whole == text and parallel:
        whole = _NUMBER.sub("", text)
    return (whole if whole == text else whole.rstrip(_SEPARATORS)) or label
