"""A streaming XML reader that goes on after damage and says what it met.

Why not lxml or expat: both stop, or drop content without saying so, at the first thing that is not well-formed, and
both call back into Python for every tag, which costs more than all the rest. This one takes whole runs of like
elements at a time (`run`), reads on after the root and after any damage, holds no more than one tag, and knows no
entities but the five of XML. It reads XML 1.0 without a document type; that, it skips.
"""

from __future__ import annotations

import re
from typing import Protocol

from . import limits
from .problems import Problems
from .xmltext import flaw, plain

_NAME = r"[^\W\d][\w.:-]*+"
_START = re.compile(rf"""<({_NAME})((?:\s++{_NAME}\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'))*+)\s*+(/?)>""")
# What people write by hand, and what tools write that do not escape: `<` in a value, no space between attributes.
_LOOSE_START = re.compile(rf"""<({_NAME})((?:\s*+{_NAME}\s*+=\s*+(?:"[^"]*+"|'[^']*+'))*+)\s*+(/?)>""")
_END = re.compile(rf"</({_NAME})\s*+>")
_PAIRS = re.compile(r'([^\s=]+)\s*=\s*"([^"]*)"')
_PAIRS_EITHER = re.compile(r"""([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_NEAR_END = re.compile(r"&[#\w]{0,10}\Z")
_NEAR = 64  # an end tag closes at most so many elements: a stray one must not cost a search through thousands
_DOCTYPE_END = re.compile(r"[^\[>]*+(?:\[(?:[^\]]|\](?!\s*>))*+\]\s*)?>")


class Target(Protocol):
    """What the reader tells."""

    run: re.Pattern[str] | None
    """Like elements that may be taken many at a time; None asks for single ones."""

    wants_text: bool

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def end(self) -> None: ...
    def text(self, piece: str, *, literal: bool) -> None: ...
    def take(self, run: str) -> bool: ...


class XmlScanner:
    """Feed text in pieces, then close; `target` is told of elements in order, each end included.

    `root` is the first element's name. What is not well-formed goes to `problems` as damage.
    """

    def __init__(self, target: Target, problems: Problems) -> None:
        self.root = ""
        self.root_attributes: dict[str, str] = {}
        self.doctype = False
        self._target = target
        self._problems = problems
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._open: list[str] = []
        self._skipped = 0  # depth below limits.DEPTH
        self._inside = ""  # what ends the section that the buffer starts in
        self._roots = 0

    def feed(self, text: str) -> None:
        """More of the document."""
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

    @property
    def cut(self) -> bool:
        """Whether elements were still open at the end."""
        return bool(self._open)

    def _damage(self, message: str) -> None:
        if not self._problems.again(message):
            self._problems.damage(message, f"line {self._line + self._buffer.count(chr(10), 0, self._at)}")

    def _scan(self, *, final: bool) -> None:
        """Takes tokens while there is a whole one; `_at` is left at the first that is not."""
        while True:
            if self._inside:
                if not self._section(final=final):
                    return
                continue
            buffer, at, target = self._buffer, self._at, self._target
            if target.run is not None:
                run = target.run.match(buffer, at)
                if run is not None and target.take(run[0]):
                    self._at = at = run.end()
                    self._references(run[0])
            mark = buffer.find("<", at)
            if mark != at and not self._characters(mark, final=final):
                return
            if not self._token(final=final):
                return

    def _characters(self, mark: int, *, final: bool) -> bool:
        """Text up to `mark`, or what there is of it; False when the buffer has no more to give."""
        buffer, at = self._buffer, self._at
        stop = mark
        if mark < 0:
            stop = len(buffer)
            if not final:
                near = _NEAR_END.search(buffer, max(at, stop - 12))
                stop = near.start() if near else max(at, stop - 2)  # a reference, or `]]>`, may be cut in two
        piece = buffer[at:stop]
        self._text(piece)
        self._at = stop
        return mark >= 0

    def _text(self, piece: str) -> None:
        if not self._open:
            if piece and not piece.isspace():
                self._damage("text after the document" if self._roots else "text before the document")
            return
        if "]]>" in piece:
            self._damage("`]]>` in text")
        if self._target.wants_text:
            self._target.text(piece, literal=False)
        self._references(piece)

    def _token(self, *, final: bool) -> bool:
        """The markup at `_at`; False when it is not whole yet."""
        buffer, at = self._buffer, self._at
        if not self._skipped and self._open and buffer.startswith(ending := f"</{self._open[-1]}>", at):
            self._at = at + len(ending)
            self._close_one()
            return True
        start = _START.match(buffer, at)
        if start:
            self._at = start.end()
            self._element(start)
            return True
        return self._rare(final=final)

    def _rare(self, *, final: bool) -> bool:
        buffer, at = self._buffer, self._at
        for opening, ending in (("<![CDATA[", "]]>"), ("<!--", "-->"), ("<?", "?>")):
            if buffer.startswith(opening, at):
                self._inside = ending
                self._at = at + len(opening)
                if opening == "<?":
                    self._instruction()
                return True
        end = _END.match(buffer, at)
        if end:
            self._at = end.end()
            self._end(end[1])
            return True
        if not final and len(buffer) - at < limits.TAG:
            return False
        return self._broken()

    def _broken(self) -> bool:
        """Markup that is none: read as well as can be, else taken for text."""
        buffer, at = self._buffer, self._at
        if at >= len(buffer):
            return False
        if buffer.startswith("<!DOCTYPE", at):
            return self._document_type()
        start = _LOOSE_START.match(buffer, at, at + limits.TAG)
        if start:
            self._damage(f"<{start[1][:80]}> with attributes that are not well-formed")
            self._at = start.end()
            self._element(start)
            return True
        rest = buffer[at : at + 24].partition("\n")[0]
        self._damage(f"ends inside a tag: {rest}" if ">" not in buffer[at:] else "`<` that begins no tag")
        self._at = at + 1
        if self._open and self._target.wants_text:
            self._target.text("<", literal=True)
        return True

    def _document_type(self) -> bool:
        found = _DOCTYPE_END.match(self._buffer, self._at, self._at + limits.TAG)
        self.doctype = True
        if found is None:
            self._damage("a document type that nothing ends")
            self._at += len("<!DOCTYPE")
        else:
            self._at = found.end()
            if "[" in found[0]:
                self._damage("declares entities or the like in a document type: not read")
            else:
                self._problems.note("names a document type: not read")
        return True

    def _instruction(self) -> None:
        if self._buffer.startswith("xml", self._at) and (self._open or self._roots):
            self._damage("a second document begins")

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

    def _element(self, start: re.Match[str]) -> None:
        name, raw, closed = start.groups()
        attributes = self._attributes(name, raw) if raw else {}
        if not self._open:
            self._begin(name, attributes)
        if len(self._open) >= limits.DEPTH:
            self._skipped += not closed
            self._damage(f"elements more than {limits.DEPTH:,} deep, not read")
            return
        self._target.start(name, attributes)
        if closed:
            self._target.end()
        else:
            self._open.append(name)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if self._roots:
            self._damage("more than one document")
        else:
            self.root, self.root_attributes = name, attributes
        self._roots += 1

    def _attributes(self, name: str, raw: str) -> dict[str, str]:
        if "'" in raw:
            pairs = [(key, double or single) for key, double, single in _PAIRS_EITHER.findall(raw)]
        else:
            pairs = _PAIRS.findall(raw)
        attributes = dict(pairs)
        if len(attributes) != len(pairs):
            self._damage(f"<{name[:80]}> has an attribute twice")
        if "\n" in raw or "\t" in raw:  # white space in a value is a space, says XML; in references it is kept
            attributes = {key: value.replace("\n", " ").replace("\t", " ") for key, value in attributes.items()}
        if "&" in raw:
            self._references(raw)
            attributes = {key: plain(value) for key, value in attributes.items()}
        return attributes

    def _end(self, name: str) -> None:
        """An end tag that is not simply the innermost element's."""
        if self._skipped:
            self._skipped -= 1
        elif self._open and self._open[-1] == name:  # with white space in the tag
            self._close_one()
        elif name in self._open[-_NEAR:]:
            self._damage(f"<{self._open[-1][:80]}> is not closed")
            while self._open[-1] != name:
                self._close_one()
            self._close_one()
        else:
            self._damage(f"</{name[:80]}> closes nothing")

    def _close_one(self) -> None:
        self._open.pop()
        self._target.end()

    def _references(self, text: str) -> None:
        if found := flaw(text):
            self._damage(found)
