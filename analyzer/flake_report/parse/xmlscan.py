"""A streaming XML reader that goes on after damage and says what it met.

Why not lxml or expat: both stop, or drop content without saying so, at the first thing that is not well-formed; both
hold a whole tag or text node, however large; and both call back into Python for every tag, which costs more than all
the rest. This one takes an element with its text, or a run of like elements, at once; reads on after the root and
after damage; holds no more than a part of a tag; and knows no entities but the five of XML. A document type it skips.
"""

from __future__ import annotations

import re
from typing import Protocol

from . import limits
from .problems import Problems
from .xmlgrammar import (
    DOCTYPE,
    END,
    PAIRS,
    PAIRS_OF_EITHER_QUOTE,
    TOKEN,
    UNFINISHED,
)
from .xmltag import OpenTag, shortened
from .xmltext import attribute, flaw, flaw_of_content

_SECTIONS = (("<![CDATA[", "]]>"), ("<!--", "-->"), ("<?", "?>"))
_LINES_COUNTED = 16_000_000  # characters: no editor goes to a line of a larger file, and counting takes time
_NEAR = 64  # an end tag closes at most so many elements: a stray one must not cost a search through thousands


class Target(Protocol):
    """What is told of a document's elements, in order."""

    wants_text: bool
    """Whether the text of the innermost element is of use."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def text(self, piece: str, *, literal: bool) -> None: ...
    def end(self) -> None: ...
    def leaf(self, name: str, attributes: dict[str, str], text: str, *, literal: bool) -> None: ...
    def bulk(self, buffer: str, at: int) -> int:
        """Elements that the target takes as text, from `at` on: where they end."""


class XmlScanner:
    """Feed text in pieces, then close; what is not well-formed goes to `problems` as damage.

    `root` is the first element's name. Text is handed on as written, `literal` where it can hold no references.
    """

    def __init__(self, target: Target, problems: Problems) -> None:
        self.root = ""
        self.root_attributes: dict[str, str] = {}
        self._target = target
        self._problems = problems
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._before = 0  # characters before the buffer
        self._open: list[str] = []
        self._skipped = 0  # elements open below limits.DEPTH
        self._inside = ""  # what ends the section that the buffer starts in
        self._tag: OpenTag | None = None  # what the buffer starts in, where that is a tag too long to be held
        self._endless = False  # whether a document type had no end: no other is looked through for one
        self._roots = 0

    @property
    def cut(self) -> bool:
        """Whether elements were still open at the end."""
        return bool(self._open)

    def feed(self, text: str) -> None:
        """More of the document."""
        self._before += self._at
        if self._before < _LINES_COUNTED:
            self._line += self._buffer.count("\n", 0, self._at)
        self._buffer = self._buffer[self._at :] + text
        self._at = 0
        self._scan(final=False)

    def close(self) -> None:
        """No more will come: whatever is still open was cut."""
        self._scan(final=True)
        if self._inside:
            self._damage("ends inside a comment or section that nothing closes")
        if self._open:
            self._damage(f"ends inside <{self._open[-1][:80]}>: the file is cut")
        elif not self.root:
            self._damage("holds no element")

    def _damage(self, message: str) -> None:
        if self._problems.again(message):
            return
        if self._before < _LINES_COUNTED:
            place = f"line {self._line + self._buffer.count(chr(10), 0, self._at)}"
        else:
            place = f"about character {self._before + self._at:,}"
        self._problems.damage(message, place)

    def _scan(self, *, final: bool) -> None:
        """Takes tokens while there is a whole one; `_at` is left at the first that is not."""
        target, buffer, tokens = self._target, self._buffer, TOKEN.match
        while True:
            if self._inside:
                if not self._section(final=final):
                    return
            elif self._tag is not None:
                if not self._long_tag(self._tag, final=final):
                    return
            elif target.wants_text:
                if not self._mixed(final=final):
                    return
            else:
                self._at = target.bulk(buffer, self._at)
                token = tokens(buffer, self._at)
                if token is not None:
                    self._at = token.end()
                    self._token(token)
                elif not self._odd(final=final):
                    return

    def _token(self, token: re.Match[str]) -> None:
        name, raw, empty, text, literal, ended = token.groups()
        if ended is not None:
            if not self._skipped and self._open and self._open[-1] == ended:
                self._open.pop()
                self._target.end()
            else:
                self._end(ended)
            return
        attributes = self._attributes(name, raw) if raw else {}
        if not self._open:
            self._begin(name, attributes)
        if len(self._open) >= limits.DEPTH:
            self._too_deep(opened=not empty and text is None and literal is None)
        elif text is not None:
            self._check_text(text)
            self._target.leaf(name, attributes, text, literal=False)
        elif literal is not None or empty:
            self._target.leaf(name, attributes, literal or "", literal=True)
        else:
            self._open.append(name)
            self._target.start(name, attributes)

    def _too_deep(self, *, opened: bool) -> None:
        self._skipped += opened
        self._damage(f"elements more than {limits.DEPTH:,} deep, not read")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if self._roots:
            self._damage("more than one document")
        else:
            self.root, self.root_attributes = name, attributes
        self._roots += 1

    def _end(self, name: str) -> None:
        """An end tag that is not the innermost element's."""
        if self._skipped:
            self._skipped -= 1
        elif name in self._open[-_NEAR:]:
            if self._open[-1] != name:
                self._damage(f"<{self._open[-1][:80]}> is not closed")
            while self._open.pop() != name:
                self._target.end()
            self._target.end()
        else:
            self._damage(f"</{name[:80]}> closes nothing")

    def _mixed(self, *, final: bool) -> bool:
        """In an element whose text is of use: text up to the next markup, then that."""
        buffer, at = self._buffer, self._at
        mark = buffer.find("<", at)
        if mark != at:
            stop = self._text_end(mark, final=final)
            if stop > at:
                self._check_text(buffer[at:stop])
                self._target.text(buffer[at:stop], literal=False)
                self._at = stop
            if mark < 0:
                return False
        end = END.match(buffer, mark)
        if end is None:
            token = TOKEN.match(buffer, mark)
            if token is None:
                return self._odd(final=final)
            self._at = token.end()
            self._token(token)
        else:
            self._at = end.end()
            self._end(end[1])
        return True

    def _text_end(self, mark: int, *, final: bool) -> int:
        """Where the text ends that can be handed on: `mark`, or what there is of it, less what may be cut in two."""
        if mark >= 0:
            return mark
        length = len(self._buffer)
        unfinished = None if final else UNFINISHED.search(self._buffer, max(self._at, length - 12))
        return unfinished.start() if unfinished else length

    def _odd(self, *, final: bool) -> bool:
        """Where no tag is: text that nobody asked for, a section, a tag that is not whole, or none at all."""
        buffer, at = self._buffer, self._at
        mark = buffer.find("<", at)
        if mark != at:
            stop = self._text_end(mark, final=final)
            self._unwanted(buffer[at:stop])
            self._at = at = stop
            if mark < 0 or TOKEN.match(buffer, at):
                return mark >= 0
        for opening, ending in _SECTIONS:
            if buffer.startswith(opening, at):
                self._inside = ending
                self._at = at + len(opening)
                if opening == "<?" and buffer.startswith("xml", self._at) and (self._open or self._roots):
                    self._damage("a second document begins")
                return True
        if not final and len(buffer) - at < limits.TAG:
            return False
        self._broken(at, final=final)
        return True

    def _unwanted(self, text: str) -> None:
        if self._open:
            self._check_text(text)
        elif text and not text.isspace():
            self._damage("text after the document" if self._roots else "text before the document")

    def _check_text(self, text: str) -> None:
        if found := flaw_of_content(text):
            self._damage(found)

    def _broken(self, at: int, *, final: bool) -> None:
        """Markup that is not plain: a tag that is long or badly written, else taken for text."""
        buffer = self._buffer
        if buffer.startswith("<!DOCTYPE", at):
            self._document_type(at)
            return
        tag = OpenTag(buffer, at)
        tag.read(buffer, tag.at, final=final)
        if tag.done or not (tag.broken or final):
            self._at, self._tag = tag.at, tag
            return
        rest = buffer[at : at + 24].partition("\n")[0]
        self._damage(f"ends inside a tag: {rest}" if final and tag.ran_out else "`<` that begins no tag")
        self._at = at + 1
        if self._target.wants_text:
            self._target.text("<", literal=True)

    def _long_tag(self, tag: OpenTag, *, final: bool) -> bool:
        """Goes on in a tag; False when its end is not in sight."""
        if not tag.done:
            tag.read(self._buffer, self._at, final=final)
            self._at = tag.at
        if not (tag.done or tag.broken or final):
            return False
        self._tag = None
        if tag.done:
            self._opened(tag)
        else:
            self._damage(f"ends inside a tag: <{tag.name[:23]}" if final else "`<` that begins no tag")
        return True

    def _opened(self, tag: OpenTag) -> None:
        for found in tag.flaws:
            self._damage(found)
        for key in tag.cut:
            self._cut_value(tag.name, key)
        if not self._open:
            self._begin(tag.name, tag.attributes)
        if len(self._open) >= limits.DEPTH:
            self._too_deep(opened=not tag.empty)
        elif tag.empty:
            self._target.leaf(tag.name, tag.attributes, "", literal=True)
        else:
            self._open.append(tag.name)
            self._target.start(tag.name, tag.attributes)

    def _cut_value(self, name: str, key: str) -> None:
        self._problems.note(f"the middle is cut of {key[:80]}= in <{name[:80]}>: over {limits.VALUE:,} characters")

    def _document_type(self, at: int) -> None:
        found = None if self._endless else DOCTYPE.match(self._buffer, at, at + limits.TAG)
        if found is None:
            self._endless = True
            self._damage("a document type that nothing ends")
            self._at = at + len("<!DOCTYPE")
        else:
            self._at = found.end()
            if "[" in found[0]:
                self._damage("declares entities or the like in a document type: not read")
            else:
                self._problems.note("names a document type: not read")

    def _section(self, *, final: bool) -> bool:
        """Goes on in a CDATA section, comment or instruction; False when its end is not in sight."""
        buffer, at, ending = self._buffer, self._at, self._inside
        stop = buffer.find(ending, at)
        found = stop >= 0
        if not found:
            stop = len(buffer) if final else max(at, len(buffer) - len(ending) + 1)
        if ending == "]]>":
            if not self._open:
                self._damage("text outside the document")
            elif self._target.wants_text and stop > at:
                self._target.text(buffer[at:stop], literal=True)
        self._at = stop
        if found:
            self._at += len(ending)
            self._inside = ""
        return found

    def _attributes(self, name: str, raw: str) -> dict[str, str]:
        if "'" in raw:
            pairs = [(key, double or single) for key, double, single in PAIRS_OF_EITHER_QUOTE.findall(raw)]
        else:
            pairs = PAIRS.findall(raw)
        attributes = dict(pairs)
        if len(attributes) != len(pairs):
            self._damage(f"<{name[:80]}> has an attribute twice")
        if "<" in raw:
            self._damage("`<` in an attribute")
        if "&" in raw or "\n" in raw or "\t" in raw:
            if found := flaw(raw):
                self._damage(found)
            attributes = {key: attribute(value) for key, value in attributes.items()}
        if len(raw) > limits.VALUE:
            for key, value in attributes.items():
                attributes[key] = kept = shortened(key, value)
                if kept is not value:
                    self._cut_value(name, key)
        return attributes
