"""Boilerplate around an article, and marks in it, recognised by class names, ids and roles.

Boilerplate is navigation, sidebars, footers, share buttons and the like. Marks are small elements in a
line, such as the link sign beside a heading.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .markup import Attributes
from .text import word_set

_MAX_NAME_LENGTH = 500  # longer ones are cut, since they are keys of a cache
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _word_sets(text: str) -> tuple[frozenset[str], ...]:
    """One set of words for each line."""
    return tuple(word_set(line) for line in text.strip().splitlines())


_TAGS = word_set("nav footer form button dialog input label aside")
_ROLES = word_set("""
    navigation banner contentinfo complementary search menu menubar toolbar dialog alertdialog tablist
    doc-noteref doc-backlink doc-toc
""")
_INLINE = word_set("a span sub sup small time")
# Ids count only for these tags: that of a section comes from its heading, which may be about anything.
_TAGS_WITH_ID = word_set("div ul")
_SECTIONS = word_set("section level method function")
# An element that is boilerplate by its tag is still read if it has one of these classes.
_CONTENT = word_set(
    "footnote footnotes admonition note tip warning caution danger callout topic starlight sd"
)

# One of these words in the names of an element, or all words of a line below, make it boilerplate.
_BOILERPLATE = word_set("""
    ads advert advertisement announcement banner breadcrumb breadcrumbs byline catlinks clipboard
    commentlist comments consent cookie cookies copybtn copybutton editlink editsection feedback footer
    linenodiv linenos masthead menu nav navbar navbox navigation newsletter pager pagination paginator
    prevnext printfooter related relatedposts respond share sharedaddy sharing sidebar skip social
    sphinxsidebar sponsor sponsors subscribe tags toc viewcode
""")
_BOILERPLATE_COMBINED = _word_sets("""
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
# Inline elements are dropped only if they are marks: the sign beside a heading, the number of a footnote.
_MARKS = word_set("headerlink permalink viewcode copybtn linenos lineno editsection reversefootnote")
_MARKS_COMBINED = _word_sets("""
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
_LINE_NUMBERS = word_set("lineno linenos")  # a `<pre>` with nothing else
_MARKS_ALONE = word_set("anchor lang")  # marks only where they are the only word


def is_boilerplate(tag: str, attributes: Attributes) -> bool:
    """Whether an element is hidden, boilerplate around the article, or a mark in it."""
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    if style and "display:none" in style.replace(" ", "").lower():
        return True
    classes = (attributes.get("class") or "")[:_MAX_NAME_LENGTH]
    uses_id = tag in _TAGS_WITH_ID and _SECTIONS.isdisjoint(_WORD.findall(classes))
    element_id = (attributes.get("id") or "")[:_MAX_NAME_LENGTH] if uses_id else ""
    return attributes.get("role") in _ROLES or _is_boilerplate_name(tag, classes, element_id)


@lru_cache(maxsize=4096)
def _is_boilerplate_name(tag: str, classes: str, element_id: str) -> bool:
    words = frozenset(word.lower() for word in _WORD.findall(f"{classes} {element_id}"))
    if tag in _INLINE:
        is_mark = not words.isdisjoint(_MARKS) or any(group <= words for group in _MARKS_COMBINED)
        return is_mark or (len(words) == 1 and words <= _MARKS_ALONE)
    if tag in _TAGS and words.isdisjoint(_CONTENT):
        return True
    if "admonition" in words:
        return False  # its other class names come from its title
    if "language" in words:
        words -= {"numbers"}  # code with line numbers
    if tag == "pre":
        return not words.isdisjoint(_LINE_NUMBERS)
    return not words.isdisjoint(_BOILERPLATE) or any(group <= words for group in _BOILERPLATE_COMBINED)
