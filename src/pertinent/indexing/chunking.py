"""Chunking: pages are split along their structure, into sizes measured in the embedder's tokens.

A chunk never crosses a heading. A paragraph, a code fence or a table stays in one chunk if it fits the
embedder. A longer one is split at sentences or lines, then at words, then at characters, and never
inside a table row or a line of code that fits. The same page and the same token counter always give
the same chunks, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from .. import identity
from ..types import BlockKind, Chunk, Page, Section

CHUNKER_VERSION = 2
"""Part of an index's fingerprint: increase it whenever the same page would give other chunks."""
MAX_CHARACTERS = 1999
CONTEXT_MAX = 60
"""About how many tokens the context above a chunk may have."""

CountTokens = Callable[[Sequence[str]], list[int]]

_SENTENCE = re.compile(r"""(?<=[.!?…])\s+|(?<=[.!?…]["'”’)\]])\s+|(?<=[。！？])\s*""")
_LINE = re.compile(r"\n")
_PARAGRAPH = re.compile(r"\n\s*\n")
_WORD = re.compile(r"\s+")
_CHARACTER = re.compile(r"(?<=.)(?=.)", re.DOTALL)
_SEPARATORS: dict[BlockKind, tuple[re.Pattern[str], ...]] = {
    "prose": (_PARAGRAPH, _SENTENCE, _WORD, _CHARACTER),
    "item": (_PARAGRAPH, _SENTENCE, _WORD, _CHARACTER),
    "code": (_PARAGRAPH, _LINE, _WORD, _CHARACTER),
    "table": (_LINE, _WORD, _CHARACTER),
}


class Span(NamedTuple):
    """A range of the page's text and its size in tokens, without special tokens."""

    start: int
    end: int
    tokens: int


class Budget(NamedTuple):
    """The sizes of chunks, in tokens."""

    target: int
    """About how large a chunk should be."""
    most: int
    """How large a chunk may be."""
    join_cost: int
    """How many tokens it costs to join two pieces."""

    def reserve(self, lead: Span | None) -> Budget:
        """Return the budget that remains beside a lead."""
        if lead is None:
            return self
        most = max(self.most - lead.tokens - self.join_cost, 1)
        return Budget(min(self.target, most), most, self.join_cost)


def context(title: str, section: str) -> str:
    """Return the line that is embedded above a chunk's text: its title and headings.

    A long one is cut at the front, so that the nearest heading stays.
    """
    breadcrumb = f"{title} › {section}" if section else title
    if len(breadcrumb) <= CONTEXT_MAX:  # a character has at most one token
        return breadcrumb
    weight = 0.0
    for position in range(len(breadcrumb) - 1, -1, -1):
        character = breadcrumb[position]
        # An estimate: three ASCII letters make a token, and so does any other character.
        weight += 1 / 3 if character.isascii() and (character.isalnum() or character == " ") else 1
        if weight > CONTEXT_MAX:
            return "…" + breadcrumb[position + 1 :]
    return breadcrumb


def embedded_text(chunk: Chunk) -> str:
    """Return what is embedded and indexed lexically for a chunk: its context and its text."""
    return f"{context(chunk.title, chunk.section)}\n\n{chunk.text}"


def chunk_page(page: Page, count_tokens: CountTokens, *, target: int, most: int) -> list[Chunk]:
    """Split a page into chunks, in order.

    Args:
        page: The page.
        count_tokens: The embedder's token counter.
        target: About how many tokens a chunk should have.
        most: How many tokens a chunk may have, with its context.
    """
    spans: list[tuple[Section, Span]] = []
    special_tokens, single, joined = count_tokens(["", "a", "a\n\na"])
    join_cost = joined - 2 * single + special_tokens
    measure = _make_measure(page.text, count_tokens, special_tokens)
    for section in page.sections:
        (context_tokens,) = count_tokens([context(page.title, " › ".join(section.path))])
        room = max(most - context_tokens - join_cost, 1)
        budget = Budget(min(target, room), room, join_cost)
        units = _split_section(page.text, section, budget, measure)
        spans += ((section, span) for span in _pack(units, budget))
    texts = [page.text[span.start : span.end] for _, span in spans]
    ids = identity.chunk_ids(page.document_id, texts)
    return [
        _make_chunk(page, section, span, position, chunk_id)
        for position, (chunk_id, (section, span)) in enumerate(zip(ids, spans, strict=True))
    ]


def _make_chunk(page: Page, section: Section, span: Span, position: int, chunk_id: str) -> Chunk:
    text = page.text[span.start : span.end]
    return Chunk(
        chunk_id=chunk_id,
        document_id=page.document_id,
        url=page.url,
        anchor=section.anchor,
        title=page.title,
        section=" › ".join(section.path),
        position=position,
        start=span.start,
        end=span.end,
        text=text,
        content_hash=identity.content_hash(text),
        source_path=page.source_path,
        slug=page.slug,
        source_type=page.source_type,
    )


Measure = Callable[[Sequence[tuple[int, int]]], list[Span]]
"""Counts the tokens of ranges of a page's text."""


def _make_measure(text: str, count_tokens: CountTokens, special_tokens: int) -> Measure:
    def measure(ranges: Sequence[tuple[int, int]]) -> list[Span]:
        counts = count_tokens([text[start:end] for start, end in ranges])
        return [Span(*span, count - special_tokens) for span, count in zip(ranges, counts, strict=True)]

    return measure


def _split_section(text: str, section: Section, budget: Budget, measure: Measure) -> Iterator[Span]:
    """Yield the section's blocks, split where they are too large.

    A short paragraph that introduces the next block (a lead) is joined to it.
    """
    spans = measure([(block.start, block.end) for block in section.blocks])
    lead: Span | None = None
    for block, span in zip(section.blocks, spans, strict=True):
        unit = span if lead is None else _join(lead, span, budget)
        if lead is not None and not _introduces(text, lead, block.kind):
            yield lead
            unit, lead = span, None
        if not _fits(unit, budget.most):
            parts = list(_split(text, span, _SEPARATORS[block.kind], budget.reserve(lead), measure))
            yield from _prepend_lead(lead, parts, budget)
            lead = None
            continue
        lead = None
        if block.kind == "prose" and unit.tokens < budget.target // 4:
            lead = unit
        else:
            yield unit
    if lead is not None:
        yield lead


def _prepend_lead(lead: Span | None, parts: list[Span], budget: Budget) -> list[Span]:
    """Join the lead to the first of the parts, if both fit into a chunk."""
    if lead is None:
        return parts
    joined = _join(lead, parts[0], budget)
    return [joined, *parts[1:]] if _fits(joined, budget.most) else [lead, *parts]


def _introduces(text: str, lead: Span, kind: BlockKind) -> bool:
    """Whether a short paragraph introduces the next block, as "For example:" or a listing's title does."""
    return kind in ("code", "table") or not text[lead.start : lead.end].endswith((".", "!", "?", "…", "。"))


def _join(first: Span, second: Span, budget: Budget) -> Span:
    return Span(first.start, second.end, first.tokens + budget.join_cost + second.tokens)


def _fits(span: Span, most: int) -> bool:
    return span.tokens <= most and span.end - span.start <= MAX_CHARACTERS


def _split(
    text: str, span: Span, separators: Sequence[re.Pattern[str]], budget: Budget, measure: Measure
) -> Iterator[Span]:
    """Yield parts of a span that fit, split at the coarsest separators that make them small enough."""
    separator, *finer = separators
    matches = [(match.start(), match.end()) for match in separator.finditer(text, span.start, span.end)]
    edges = [span.start, *(edge for match in matches for edge in match), span.end]
    ranges = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if text[a:b].strip()]
    parts: list[Span] = []
    for part in measure(ranges):
        if _fits(part, budget.most) or not finer:
            parts.append(part)
        else:
            parts += _split(text, part, finer, budget, measure)
    yield from _pack(parts, budget)


def _pack(units: Iterable[Span], budget: Budget) -> list[Span]:
    """Join neighbours up to the target size; a small one may exceed the target to avoid a tiny chunk."""
    packed: list[Span] = []
    small = budget.target // 4
    for unit in units:
        if packed:
            joined = _join(packed[-1], unit, budget)
            limit = budget.most if min(packed[-1].tokens, unit.tokens) < small else budget.target
            if _fits(joined, limit):
                packed[-1] = joined
                continue
        packed.append(unit)
    return packed
