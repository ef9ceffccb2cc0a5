"""The markup of XML 1.0 as regular expressions.

None is possessive or atomic: in Python 3.11.2 and its like, such a repeat of a group takes half a turn for a whole.
So each is written to match in one way only, and what repeats a group is bounded, for each turn costs memory; whatever
goes over the bound is well-formed still and read in a longer way.
"""

from __future__ import annotations

import re

NAME = r"[^\W\d][\w.:-]*"
"""The name of an element or attribute, more or less."""
# Values up to the closing quote; a `<` in one, which XML forbids, is looked for by whoever reads the match.
_ATTRIBUTES = rf"""(?:\s+{NAME}\s*=\s*(?:"[^"]*"|'[^']*')){{0,500}}"""
CDATA = r"<!\[CDATA\[([^\]]*(?:\](?!\]>)[^\]]*){0,500})\]\]>"
"""A section of literal text, with few `]`; one group, the text."""

TOKEN = re.compile(rf"\s*<(?:({NAME})({_ATTRIBUTES})\s*(?:(/>)|>(?:([^<]*)</\1\s*>|{CDATA}</\1\s*>)?)|/({NAME})\s*>)")
"""White space and then a tag, or a whole element that holds nothing but text.

Groups: name, attributes, `/>` of an empty element, text, text in CDATA, name of an end tag.
"""

PAIRS = re.compile(r'([^\s=]+)\s*=\s*"([^"]*)"')
PAIRS_OF_EITHER_QUOTE = re.compile(r"""([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")

END = re.compile(rf"</({NAME})\s*>")

DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[[^\]]*(?:\](?!\s*>)[^\]]*){0,500}\]\s*)?>")

UNFINISHED = re.compile(r"(?:&[#\w]{0,10}|\]{1,2})\Z")
"""What at the end of a piece of text may be half of a reference, or of `]]>`."""
