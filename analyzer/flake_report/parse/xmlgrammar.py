"""The markup of XML 1.0 as regular expressions: possessive, so that no input makes them slow."""

from __future__ import annotations

import re

_NAME = r"[^\W\d][\w.:-]*+"
# Values up to the closing quote; a `<` in one, which XML forbids, is looked for by whoever reads the match.
_ATTRIBUTES = rf"""(?:\s++{_NAME}\s*+=\s*+(?:"[^"]*+"|'[^']*+'))*+"""
CDATA = r"<!\[CDATA\[((?:[^\]]++|\](?!\]>))*+)\]\]>"
"""A section of literal text; one group, the text."""

TOKEN = re.compile(
    rf"\s*+<(?:({_NAME})({_ATTRIBUTES})\s*+(?:(/>)|>(?:([^<]*+)</\1\s*+>|{CDATA}</\1\s*+>)?)|/({_NAME})\s*+>)"
)
"""White space and then a tag, or a whole element that holds nothing but text.

Groups: name, attributes, `/>` of an empty element, text, text in CDATA, name of an end tag.
"""

LOOSE_START = re.compile(
    rf"""<({_NAME})((?:\s*+{_NAME}(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'<>=]++))?+)*+)\s*+(/?)>"""
)
"""A start tag as some write it: no space between attributes, values without quotes, names without values."""

LOOSE_PAIRS = re.compile(rf"""({_NAME})(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>=]++)))?""")

PAIRS = re.compile(r'([^\s=]+)\s*=\s*"([^"]*)"')
PAIRS_OF_EITHER_QUOTE = re.compile(r"""([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")

END = re.compile(rf"</({_NAME})\s*+>")

DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*+(?:\[(?:[^\]]|\](?!\s*>))*+\]\s*+)?>")

UNFINISHED = re.compile(r"(?:&[#\w]{0,10}|\]{1,2})\Z")
"""What at the end of a piece of text may be half of a reference, or of `]]>`."""
