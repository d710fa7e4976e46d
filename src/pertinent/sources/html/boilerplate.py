"""What stands around an article, or marks it, by the names that sites give their elements."""

from __future__ import annotations

import re
from functools import lru_cache

from .markup import Attributes
from .text import words

_LONGEST = 500  # letters of a name that are looked at, and remembered
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _pairs(text: str) -> tuple[frozenset[str], ...]:
    return tuple(words(line) for line in text.strip().splitlines())


_TAGS = words("nav footer form button dialog input label aside")
_ROLES = words("""
    navigation banner contentinfo complementary search menu menubar toolbar dialog alertdialog tablist
    doc-noteref doc-backlink doc-toc
""")
_INLINE = words("a span sub sup small time")
# The id of a section comes from its heading, which may be about anything.
_NAMED_BY_ID = words("div ul")
_SECTIONS = words("section level method function")
# An element that would go by its tag stays where its class says that it tells something.
_TELLING = words("footnote footnotes admonition note tip warning caution danger callout topic starlight sd")

# One of these words in the names of an element, or all of a line, make it no part of the article.
_AROUND = words("""
    ads advert advertisement announcement banner breadcrumb breadcrumbs byline catlinks clipboard
    commentlist comments consent cookie cookies copybtn copybutton editlink editsection feedback footer
    linenodiv linenos masthead menu nav navbar navbox navigation newsletter pager pagination paginator
    prevnext printfooter related relatedposts respond share sharedaddy sharing sidebar skip social
    sphinxsidebar sponsor sponsors subscribe tags toc viewcode
""")
_AROUND_TOGETHER = _pairs("""
    entry meta
    post meta
    page meta
    article meta
    posted on
    post info
    article info
    author box
    reading time
    last updated
    edit page
    edit link
    edit this
    on this page
    table of contents
    contents topic
    contents local
    back to top
    content button
    source file
    jump to
    line numbers
    site title
    site header
    screen reader
    visually hidden
""")
# Of what stands in a line, only marks go: the sign beside a heading, the number of a footnote.
_MARKS = words("headerlink permalink viewcode copybtn linenos lineno editsection reversefootnote")
_MARKS_TOGETHER = _pairs("""
    content button
    header anchor
    heading anchor
    subheading anchor
    doc anchor
    anchor link
    hash link
    heading link
    header link
    fn bracket
    footnote ref
    footnote reference
    footnote backref
    line number
    line numbers
    screen reader
    visually hidden
    sr only
""")
_NUMBERS = words("lineno linenos")  # a `<pre>` of nothing else
_ALONE = words("anchor lang")  # marks only where nothing else is said


def is_left_out(tag: str, attributes: Attributes) -> bool:
    """Whether an element is hidden, stands around the article, or is a mark in it."""
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    if style and "display:none" in style.replace(" ", "").lower():
        return True
    names = (attributes.get("class") or "")[:_LONGEST]
    named = tag in _NAMED_BY_ID and _SECTIONS.isdisjoint(_WORD.findall(names))
    name = attributes.get("id") if named else None
    return attributes.get("role") in _ROLES or _by_names(tag, names, (name or "")[:_LONGEST])


@lru_cache(maxsize=4096)
def _by_names(tag: str, names: str, name: str) -> bool:
    found = frozenset(word.lower() for word in _WORD.findall(f"{names} {name}"))
    if tag in _INLINE:
        marked = not found.isdisjoint(_MARKS) or any(pair <= found for pair in _MARKS_TOGETHER)
        return marked or (len(found) == 1 and found <= _ALONE)
    if tag in _TAGS and found.isdisjoint(_TELLING):
        return True
    if "admonition" in found:
        return False  # what else it is called comes from its title
    if "language" in found:
        found -= {"numbers"}  # code that is shown with them
    if tag == "pre":
        return not found.isdisjoint(_NUMBERS)
    return not found.isdisjoint(_AROUND) or any(pair <= found for pair in _AROUND_TOGETHER)
