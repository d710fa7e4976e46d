"""Pages that would keep a parser busy for hours, made harmless before it sees them.

A parser of HTML needs time by the square of how deep elements are nested and of how many attributes
one has, and memory by the product of how many elements like `<font size=1>` were left open and how
many paragraphs follow. 30 kB can fill 700 MB. So tags beyond what any page needs are taken out, and
the text stays. That takes a walk over all tags, which a small page with few of them is spared.
"""

from __future__ import annotations

import re
from collections import defaultdict

_LARGEST = 8_000_000  # bytes of a page that are read
_SMALL = 128_000  # bytes of a page that can't do much harm
_FEW = 1024  # tags of such a page, whatever they are
_SOME = 4096  # tags of such a page, if of those like <font size=1> there are
_FEW_OPEN = 64  # no more than these
_MOST = 200_000  # tags of any page
_DEEPEST = 500  # elements in elements; browsers stop at 512
_MOST_OPEN = 8  # elements like <font> in each other
_MOST_ATTRIBUTES = 64


def _names(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


_FORMATTING = _names("b big code em font i nobr s small strike strong tt u")
_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_RAW = _names("script style xmp iframe noembed noframes noscript textarea title plaintext")
# Of these a parser closes one before it opens the next.
_AGAIN = _names("a p li dd dt td th tr tbody thead tfoot option optgroup h1 h2 h3 h4 h5 h6")
# An end tag closes what is in its element too, but it looks no further than a barrier.
_SPECIAL = _names("""
    address article aside blockquote button caption center colgroup dd details dialog dir div dl dt
    fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup li listing main marquee menu
    nav object ol p pre search section select summary table tbody td template tfoot th thead tr ul
""")
_BARRIERS = _names("""
    table td th caption template applet marquee object select button mi mo mn ms mtext annotation-xml
    foreignobject desc title
""")
_BARRIERS_TO = {
    b"li": _BARRIERS | _names("ul ol"),
    **dict.fromkeys(
        _names("td th tr tbody thead tfoot caption table select button template"), _names("table")
    ),
}

_SLASH = ord("/")
_REOPENED = re.compile(rb"<(?=[bcefinstuBCEFINSTU])(?i:%s)[\s/]" % b"|".join(sorted(_FORMATTING)))
# A comment, what a parser takes for one, a span with nothing but text (as code is coloured with; passed
# by at once), or a tag.
_START = re.compile(
    rb"<(?:(?P<comment>!--)|(?P<bogus>[!?]|/(?![A-Za-z]))"
    rb"|span(?:\s[\w-]++=\"[^\"]*+\"){0,9}+>[^<]*+</span>"
    rb"|(?P<closing>/?)(?P<name>[A-Za-z][^\s/>]*))"
)
_COMMENT_END = re.compile(rb"--!?>")
_SIMPLE = re.compile(
    rb"(?:\s++[^\s/>=\"'<]++(?:=(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'=<`]++))?+){0,%d}+\s*+(/?)>"
    % _MOST_ATTRIBUTES
)
_ATTRIBUTE = re.compile(
    rb"[\s/]*+(?:=?[^\s/>=]++(?:\s*+=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\s>\"'][^\s>]*+)?+)?+)?+"
)


def bounded(html: bytes) -> bytes:
    """The page, or as much of it as can be parsed in a time that goes with its size."""
    return cut(html)[0]


def cut(html: bytes) -> tuple[bytes, bool]:
    """The same, and whether its end was left out."""
    tags = html.count(b"<")
    if len(html) <= _SMALL and tags <= _SOME and (tags <= _FEW or len(_REOPENED.findall(html)) <= _FEW_OPEN):
        return html, False
    too_large = len(html) > _LARGEST
    if too_large:
        html = html[:_LARGEST].decode("utf-8", "ignore").encode()
    scan = _Scan(html)
    return scan.kept(), too_large or scan.ended_early


class _Scan:
    """A walk over the tags of a page; where it can't tell how a parser nests them, it assumes the worst."""

    def __init__(self, html: bytes) -> None:
        self._html = html
        self._pos = 0
        self.ended_early = False
        """Whether there were more tags than any page has."""
        self._dropped: list[tuple[int, int]] = []
        self._stack: list[bytes] = []
        self._open: defaultdict[bytes, int] = defaultdict(int)
        self._out: defaultdict[bytes, int] = defaultdict(int)
        self._formatting: defaultdict[bytes, int] = defaultdict(int)

    def kept(self) -> bytes:
        """What is left of the page."""
        html = self._html
        end = len(html)
        for _ in range(_MOST):
            match = _START.search(html, self._pos)
            if match is None:
                break
            if match["name"]:
                self._tag(match)
            else:
                self._pos = self._past(match)
        else:
            end = self._pos
            self.ended_early = _START.search(html, end) is not None
        starts = [0, *(drop[1] for drop in self._dropped)]
        ends = [*(drop[0] for drop in self._dropped), end]
        return b"".join([html[start:end] for start, end in zip(starts, ends, strict=True)])

    def _past(self, match: re.Match[bytes]) -> int:
        """Where a comment ends, or a span that is passed by."""
        if match["comment"]:
            closing = _COMMENT_END.search(self._html, match.start() + 2)
            return closing.end() if closing else len(self._html)
        return self._html.find(b">", match.end()) + 1 or len(self._html) if match["bogus"] else match.end()

    def _tag(self, match: re.Match[bytes]) -> None:
        html, name = self._html, match["name"].lower()
        simple = _SIMPLE.match(html, match.end())
        self._pos = simple.end() if simple else self._attributes(match.end())
        if match["closing"]:
            self._close(name, match.start())
            return
        if name in _VOID:
            return
        foreign = self._open[b"svg"] or self._open[b"math"]
        if foreign and html[self._pos - 2] == _SLASH:
            return
        if name in _RAW and not foreign:
            closing = re.compile(rb"</%s[\s/>]" % name, re.IGNORECASE).search(html, self._pos)
            self._pos = closing.start() if closing else len(html)
        else:
            self._push(name, match.start())

    def _attributes(self, pos: int) -> int:
        """Past the end of a tag with many attributes, or strange ones; those that are too many go."""
        html, count, first = self._html, 0, 0
        while pos < len(html) and html[pos : pos + 1] != b">":
            match = _ATTRIBUTE.match(html, pos)
            pos = match.end() if match and match.end() > pos else pos + 1
            count += 1
            if count == _MOST_ATTRIBUTES:
                first = pos
        if first and pos > first:
            self._dropped.append((first, pos))
        return pos + 1

    def _push(self, name: bytes, start: int) -> None:
        stack = self._stack
        if name in _AGAIN and stack and stack[-1] == name:
            return
        too_many = name in _FORMATTING and sum(self._formatting.values()) >= _MOST_OPEN
        if too_many or len(stack) >= _DEEPEST:
            self._out[name] += 1
            self._drop(start)
            return
        stack.append(name)
        self._open[name] += 1
        if name in _FORMATTING:
            self._formatting[name] += 1

    def _close(self, name: bytes, start: int) -> None:
        if self._out[name]:
            self._out[name] -= 1
            self._drop(start)
            return
        if self._formatting[name]:
            self._formatting[name] -= 1
        if not self._open[name]:
            return
        if self._stack[-1] == name:
            self._open[self._stack.pop()] -= 1
            return
        barriers = _BARRIERS_TO.get(name, _BARRIERS if name in _SPECIAL else _SPECIAL)
        for place in range(len(self._stack) - 1, -1, -1):
            if self._stack[place] == name:
                self._pop(place, alone=name == b"form")
                break
            if self._stack[place] in barriers:
                break

    def _pop(self, place: int, *, alone: bool) -> None:
        """The element at this place is closed, and with it all that is in it; a form goes alone."""
        end = place + 1 if alone else len(self._stack)
        for name in self._stack[place:end]:
            self._open[name] -= 1
        del self._stack[place:end]

    def _drop(self, start: int) -> None:
        if self._dropped and self._dropped[-1][0] >= start:
            self._dropped.pop()  # of its attributes, which go with it
        self._dropped.append((start, self._pos))
