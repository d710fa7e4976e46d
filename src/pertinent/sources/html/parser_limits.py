"""Limits on the HTML that reaches the parser, since some pages would keep it busy for hours.

An HTML parser needs time by the square of the depth of nested elements and of the number of attributes,
and memory by the product of how many elements like `<font size=1>` were left open and how many
paragraphs follow: 30 kB can fill 700 MB. So tags beyond what any page needs are removed, and the text
stays. That takes a scan of all tags, which small pages with few tags don't need.

What a parser may read in another way than the scan is removed as well: SVG, tags in comments and in scripts
with comments, and HTML in MathML. Otherwise a page could hide its tags from the scan there.
"""

from __future__ import annotations

import re
from collections import defaultdict

_MAX_BYTES = 8_000_000  # of a page; what follows is left out
_SMALL_BYTES = 128_000  # a page up to this size is not scanned if it has few tags
_FEW_TAGS = 1024  # whatever they are
_FEW_OTHER_TAGS = 4096  # if there are few like <font size=1> among them
_FEW_FORMATTING_TAGS = 64
_MAX_TAGS = 200_000  # of a page; what follows is left out
_MAX_DEPTH = 500  # of nested elements; browsers stop at 512
_MAX_OPEN_FORMATTING = 8  # elements like <font> inside each other
_MAX_ATTRIBUTES = 64
_MAX_ATTRIBUTE_BYTES = 32_000  # of a tag with content, whose class may be read once for each element inside


def _names(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


_FORMATTING = _names("b big code em font i nobr s small strike strong tt u")
_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_ROOTS = _names("html head body")  # a parser opens none of them twice
# A parser reads what is around these in another way than the scan; no text depends on them.
_REMOVED = _names("frameset rb rp rt rtc")
_FORM_CONTROLS = _names("input keygen textarea")  # a parser closes an open <select> before them
_MATH = _names("""
    math maction annotation annotation-xml menclose merror mfenced mfrac mglyph mi mlabeledtr mmultiscripts mn
    mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext
    mtr munder munderover none semantics
""")
_RAW = _names("script style xmp iframe noembed noframes noscript textarea title plaintext")
# A parser closes an open element of these before it opens the next.
_SELF_CLOSING = _names("a p li dd dt td th tr tbody thead tfoot option")
# A parser closes an open paragraph before these.
_CLOSE_PARAGRAPH = _names("""
    address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer
    form h1 h2 h3 h4 h5 h6 header hgroup li listing main menu nav ol p plaintext pre search section summary ul
    xmp
""")
_TABLE_PARTS = _names("caption colgroup tbody td tfoot th thead tr")  # a parser ignores them elsewhere
# An end tag also closes the elements inside its own, but a parser looks no further than a barrier.
_SPECIAL = _names("""
    address article aside blockquote button caption center colgroup dd details dialog dir div dl dt
    fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup li listing main marquee menu
    nav object ol p pre search section select summary table tbody td template tfoot th thead tr ul
""")
_MATH_WITH_HTML = _names("mi mo mn ms mtext annotation-xml")
_BARRIERS = _MATH_WITH_HTML | _names("""
    table td th caption template applet marquee object select button foreignobject desc title
""")
_BARRIERS_TO = {
    b"li": _BARRIERS | _names("ul ol"),
    b"select": _SPECIAL,
    **dict.fromkeys(_names("td th tr tbody thead tfoot caption table template"), _names("table")),
}

_SLASH = ord("/")
_SPACE = rb"\t\n\f\r "  # of HTML, which has no vertical tab
_FORMATTING_TAG = re.compile(
    rb"<(?=[bcefinstuBCEFINSTU])(?i:%s)[%s/]" % (b"|".join(sorted(_FORMATTING)), _SPACE)
)
# A comment, what a parser takes for one, a span with nothing but text (common in coloured code, and skipped
# as a whole), or a tag.
_START = re.compile(
    rb"<(?:(?P<comment>!--)|(?P<bogus>[!?]|/(?![A-Za-z]))"
    rb"|span(?:[%s][\w-]++=\"[^\"]*+\"){0,9}+>[^<]*+</span>"
    rb"|(?P<closing>/?)(?P<name>[A-Za-z][^%s/>]*))" % (_SPACE, _SPACE)
)
_COMMENT_END = re.compile(rb"--!?>")
_SVG_END = re.compile(rb"</svg[%s/>]" % _SPACE, re.IGNORECASE)
_SIMPLE_TAG_END = re.compile(
    rb"(?:[%s]++[^%s/>=\"'<]++(?:=(?:\"[^\"]*+\"|'[^']*+'|[^%s>\"'=<`]++))?+){0,%d}+[%s]*+(/?)>"
    % (_SPACE, _SPACE, _SPACE, _MAX_ATTRIBUTES, _SPACE)
)
_ATTRIBUTE = re.compile(
    rb"[%(s)s/]*+(?:=?[^%(s)s/>=]++(?:[%(s)s]*+=[%(s)s]*+"
    rb"(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^%(s)s>\"'][^%(s)s>]*+)?+)?+)?+" % {b"s": _SPACE}
)


def limit_html(html: bytes) -> tuple[bytes, bool]:
    """Remove the tags that would make parsing slow; also return whether the end was left out."""
    tags = html.count(b"<")
    if (
        len(html) <= _SMALL_BYTES
        and tags <= _FEW_OTHER_TAGS
        and (tags <= _FEW_TAGS or len(_FORMATTING_TAG.findall(html)) <= _FEW_FORMATTING_TAGS)
    ):
        return html, False
    too_large = len(html) > _MAX_BYTES
    if too_large:
        html = html[:_MAX_BYTES].decode("utf-8", "ignore").encode()
    scan = _TagScan(html)
    return scan.limited_html(), too_large or scan.ended_early


class _TagScan:
    """A scan of the tags of a page; where the nesting is not clear, it assumes the deepest."""

    def __init__(self, html: bytes) -> None:
        self._html = html
        self._pos = 0
        self.ended_early = False
        """Whether there were more tags than the limit."""
        self._dropped: list[tuple[int, int]] = []
        self._stack: list[bytes] = []
        self._open: defaultdict[bytes, int] = defaultdict(int)
        self._dropped_open: defaultdict[bytes, int] = defaultdict(int)
        self._formatting: defaultdict[bytes, int] = defaultdict(int)
        self._has_svg_end = True

    def limited_html(self) -> bytes:
        """The page without the tags that are too many."""
        html = self._html
        end = len(html)
        for _ in range(_MAX_TAGS):
            match = _START.search(html, self._pos)
            if match is None:
                break
            if match["name"]:
                self._scan_tag(match)
            else:
                self._pos = self._comment_end(match)
        else:
            end = self._pos
            self.ended_early = _START.search(html, end) is not None
        starts = [0, *(drop[1] for drop in self._dropped)]
        ends = [*(drop[0] for drop in self._dropped), end]
        parts = [html[start:end] for start, end in zip(starts, ends, strict=True)]
        # A lone < must not become a tag with what follows the gap.
        return b"".join([part + b" " if part.endswith(b"<") else part for part in parts])

    def _comment_end(self, match: re.Match[bytes]) -> int:
        """Where a comment, or a span that is skipped, ends; drops the content that may hide tags."""
        html = self._html
        if match["comment"]:
            closing = _COMMENT_END.search(html, match.start() + 2)
            if closing is None:
                self._drop_range(match.start(), len(html))
                return len(html)
            if html.find(b"<", match.end(), closing.start()) >= 0:
                self._drop_range(match.end(), closing.start())
            return closing.end()
        if not match["bogus"]:
            return match.end()
        end = html.find(b">", match.end()) + 1 or len(html)
        if html.startswith(b"<![", match.start()):  # in MathML, a section that ends with ]]>
            self._drop_range(match.start(), end)
        return end

    def _scan_tag(self, match: re.Match[bytes]) -> None:
        html, name = self._html, match["name"].lower()
        simple = _SIMPLE_TAG_END.match(html, match.end())
        self._pos = simple.end() if simple else self._scan_attributes(match.end())
        if self._pos - match.end() > _MAX_ATTRIBUTE_BYTES and name not in _VOID:
            self._drop_attributes(match.end())
        if match["closing"]:
            if self._open[b"math"] and name not in _MATH:
                self._drop(match.start())
            else:
                self._close(name, match.start())
            return
        if name == b"svg":
            self._drop_svg(match.start())
        elif self._is_removed(name):
            self._drop(match.start())
        elif self._open[b"math"]:
            self._push(name, match.start())
        elif name in _RAW:
            self._close_paragraph(name)
            self._skip_raw_text(name)
        elif name not in _VOID and name not in _ROOTS:
            self._push(name, match.start())

    def _is_removed(self, name: bytes) -> bool:
        """Whether a tag is removed because a parser might read what is around it in another way."""
        if self._open[b"math"]:
            return name not in _MATH
        return name in _REMOVED or (name in _FORM_CONTROLS and bool(self._open[b"select"]))

    def _skip_raw_text(self, name: bytes) -> None:
        """Go to the end tag of an element without tags inside."""
        html, start = self._html, self._pos
        closing = re.compile(rb"</%s[%s/>]" % (name, _SPACE), re.IGNORECASE).search(html, start)
        self._pos = closing.start() if closing else len(html)
        if html.find(b"<!--", start, self._pos) >= 0:  # a script may go on after its end tag then
            self._drop_range(start, self._pos)

    def _drop_svg(self, start: int) -> None:
        """Drop an SVG, of which no text is read; of one that is never closed only the tag."""
        if self._html[self._pos - 2] != _SLASH and self._has_svg_end:
            closing = _SVG_END.search(self._html, self._pos)
            self._has_svg_end = closing is not None
            self._pos = closing.start() if closing else self._pos
        self._drop(start)

    def _scan_attributes(self, pos: int) -> int:
        """The end of a tag with many or unusual attributes; drops those that are too many."""
        html, count, first = self._html, 0, 0
        while pos < len(html) and html[pos : pos + 1] != b">":
            match = _ATTRIBUTE.match(html, pos)
            pos = match.end() if match and match.end() > pos else pos + 1
            count += 1
            if count == _MAX_ATTRIBUTES:
                first = pos
        if first and pos > first:
            self._drop_range(first, pos)
        return pos + 1

    def _push(self, name: bytes, start: int) -> None:
        stack = self._stack
        if name in _TABLE_PARTS and not (self._open[b"table"] or self._open[b"template"]):
            return
        self._close_paragraph(name)
        if name in _SELF_CLOSING and stack and stack[-1] == name:
            return
        too_many = name in _FORMATTING and sum(self._formatting.values()) >= _MAX_OPEN_FORMATTING
        if too_many or len(stack) >= _MAX_DEPTH:
            self._dropped_open[name] += 1
            self._drop(start)
            return
        stack.append(name)
        self._open[name] += 1
        if name in _FORMATTING:
            self._formatting[name] += 1

    def _close(self, name: bytes, start: int) -> None:
        if self._dropped_open[name]:
            self._dropped_open[name] -= 1
            self._drop(start)
            return
        if self._formatting[name]:
            self._formatting[name] -= 1
        if not self._open[name]:
            return
        if self._stack[-1] == name:
            self._open[self._stack.pop()] -= 1
            return
        if self._open[b"math"] and name != b"math":
            return
        barriers = _BARRIERS_TO.get(name, _BARRIERS if name in _SPECIAL else _SPECIAL | _MATH_WITH_HTML)
        self._close_up_to(name, barriers)

    def _close_paragraph(self, name: bytes) -> None:
        if name in _CLOSE_PARAGRAPH and self._open[b"p"]:
            self._close_up_to(b"p", _BARRIERS)

    def _close_up_to(self, name: bytes, barriers: frozenset[bytes]) -> None:
        """Close the innermost element of a name, unless a barrier is inside it."""
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index] == name:
                self._pop(index, alone=name == b"form")
                break
            if self._stack[index] in barriers:
                break

    def _pop(self, index: int, *, alone: bool) -> None:
        """Close an element of the stack with all elements inside it; a form is closed alone."""
        end = index + 1 if alone else len(self._stack)
        for name in self._stack[index:end]:
            self._open[name] -= 1
        del self._stack[index:end]

    def _drop(self, start: int) -> None:
        """Drop the tag that was scanned last, from its start."""
        self._drop_rest(start, self._pos)

    def _drop_attributes(self, start: int) -> None:
        """Drop all attributes of the tag that was scanned last, from its name on."""
        self._drop_rest(start, self._pos - 1)

    def _drop_rest(self, start: int, end: int) -> None:
        if self._dropped and self._dropped[-1][0] >= start:
            self._dropped.pop()  # attributes, which are dropped with the rest
        self._drop_range(start, end)

    def _drop_range(self, start: int, end: int) -> None:
        self._dropped.append((start, end))
