"""Create labels that stay valid when pages are cut into other chunks: by page, quote and span."""

from __future__ import annotations

from collections.abc import Iterable

from ...types import Chunk
from ..golden.golden_set import GoldenSet, Label
from ..target import PageView
from .quotes import IndexedPage, TextSpan, shortest_spans

END_WORDS = 8
"""How many words a shortened quote keeps at either end."""


def pin_labels(golden: GoldenSet, pages: Iterable[PageView]) -> GoldenSet:
    """Replace chunk ids in labels by page, quote and span; ids of unknown chunks stay."""
    indexed = [IndexedPage(page, "passage") for page in pages]
    chunks = {chunk.chunk_id: (chunk, page) for page in indexed for chunk in page.page.chunks}

    def pin(label: Label) -> Label:
        target = None if label.quote else chunks.get(label.chunk or "")
        return _pin_label(label, *target) if target else label

    queries = [query.model_copy(update={"labels": tuple(map(pin, query.labels))}) for query in golden.queries]
    return golden.model_copy(update={"queries": tuple(queries)})


def label_chunk(chunk: Chunk, grade: int, judge: str | None = None, note: str | None = None) -> Label:
    """Create a label on a chunk that a judge was shown.

    Args:
        chunk: The chunk. Its text is quoted; its id is used only if the text can't be.
        grade: 0, 1 or 2.
        judge: The judge's name.
        note: The judge's note.
    """
    span = _trim_span(chunk)
    page = PageView(chunk.document_id, chunk.url, chunk.title, chunk.source_path, chunk.text.strip(), (), ())
    whole_page = TextSpan(chunk.document_id, 0, span.end - span.start)
    quote = _shorten_quote(chunk, whole_page, IndexedPage(page, "page"))
    return Label(
        grade=grade,
        page=chunk.source_path or chunk.document_id,
        quote=quote,
        chunk=None if quote else chunk.chunk_id,
        span=span[1:] if span.start < span.end else None,
        judge=judge,
        note=note,
    )


def _pin_label(label: Label, chunk: Chunk, page: IndexedPage) -> Label:
    pinned = label_chunk(chunk, label.grade, label.judge, label.note)
    quote = _shorten_quote(chunk, _trim_span(chunk), page)
    # If the page has the text twice, the section helps to tell which one is meant.
    anchor = label.anchor or (None if quote else chunk.anchor or None)
    return pinned.model_copy(update={"url": label.url, "anchor": anchor, "quote": quote or pinned.quote})


def _trim_span(chunk: Chunk) -> TextSpan:
    """The span of a chunk without the white space at its ends, such as the indent of a list item."""
    start = chunk.end - len(chunk.text.lstrip())
    return TextSpan(chunk.document_id, start, start + len(chunk.text.strip()))


def _shorten_quote(chunk: Chunk, span: TextSpan, page: IndexedPage) -> str | None:
    """Quote both ends of a chunk, as short as is still unique on the page; None if the text is not unique."""
    words = chunk.text.split()
    length = span.end - span.start
    count = END_WORDS
    while 2 * count + 4 < len(words):
        quote = " ".join([*words[:count], "…", *words[-count:]])
        if shortest_spans(page.find_quote(quote, length)) == [span]:
            return quote
        count *= 2
    text = " ".join(words)
    is_unique = text.replace("…", "").strip() and page.find_quote(text, length) == [span]
    return text if is_unique else None
