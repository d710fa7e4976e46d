"""Pages to chunks: along the page's own structure, sized by the embedder's own tokens.

A chunk never crosses a heading. A paragraph, a code fence or a table stays whole where the embedder
can take it whole; a longer one is cut at the coarsest seam that serves (sentence or line, then word,
then character), never inside a table row or a line of code that fits. Pure: the same page and the
same counter give the same chunks, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .. import identity
from ..types import BlockKind, Chunk, Page, Section

CHUNKER_VERSION = 2
MAX_CHARACTERS = 1999
CONTEXT_MAX = 60
"""About how many tokens the context above a chunk may take."""

CountTokens = Callable[[Sequence[str]], list[int]]

_SENTENCE = re.compile(r"""(?<=[.!?…])\s+|(?<=[.!?…]["'”’)\]])\s+|(?<=[。！？])\s*""")
_LINE = re.compile(r"\n")
_PARAGRAPH = re.compile(r"\n\s*\n")
_WORD = re.compile(r"\s+")
_CHARACTER = re.compile(r"(?<=.)(?=.)", re.DOTALL)
_SEAMS: dict[BlockKind, tuple[re.Pattern[str], ...]] = {
    "prose": (_PARAGRAPH, _SENTENCE, _WORD, _CHARACTER),
    "item": (_PARAGRAPH, _SENTENCE, _WORD, _CHARACTER),
    "code": (_PARAGRAPH, _LINE, _WORD, _CHARACTER),
    "table": (_LINE, _WORD, _CHARACTER),
}


class Span(NamedTuple):
    """A piece of the page's text and its size in tokens, the special ones aside."""

    start: int
    end: int
    tokens: int


class Budget(NamedTuple):
    """How large a chunk should be, how large it may be, and what joining two pieces costs, in tokens."""

    target: int
    most: int
    joint: int

    def beside(self, lead: Span | None) -> Budget:
        """What is left where the lead takes its share."""
        if lead is None:
            return self
        most = max(self.most - lead.tokens - self.joint, 1)
        return Budget(min(self.target, most), most, self.joint)


def context(title: str, section: str) -> str:
    """What is embedded above a chunk's text: where it stands, the nearest heading kept when it is long."""
    breadcrumb = f"{title} › {section}" if section else title
    if len(breadcrumb) <= CONTEXT_MAX:  # no character weighs more than one token
        return breadcrumb
    weight = 0.0
    for place in range(len(breadcrumb) - 1, -1, -1):
        character = breadcrumb[place]
        # Without a tokenizer: a word of ASCII letters has some three to a token, all else one.
        weight += 1 / 3 if character.isascii() and (character.isalnum() or character == " ") else 1
        if weight > CONTEXT_MAX:
            return "…" + breadcrumb[place + 1 :]
    return breadcrumb


def embedded_text(chunk: Chunk) -> str:
    """What an embedder and the lexical side are given for a chunk."""
    return f"{context(chunk.title, chunk.section)}\n\n{chunk.text}"


def chunk_page(page: Page, count_tokens: CountTokens, *, target: int, most: int) -> list[Chunk]:
    """The page's chunks in order; none, with its context, takes more than `most` tokens."""
    spans: list[tuple[Section, Span]] = []
    alone, one, two = count_tokens(["", "a", "a\n\na"])
    joint = two - 2 * one + alone
    measure = _measure(page.text, count_tokens, alone)
    for section in page.sections:
        (around,) = count_tokens([context(page.title, " › ".join(section.path))])
        room = max(most - around - joint, 1)
        budget = Budget(min(target, room), room, joint)
        spans += ((section, span) for span in _pack(_units(page.text, section, budget, measure), budget))
    texts = [page.text[span.start : span.end] for _, span in spans]
    ids = identity.chunk_ids(page.document_id, texts)
    return [
        _chunk(page, section, span, position, chunk_id)
        for position, (chunk_id, (section, span)) in enumerate(zip(ids, spans, strict=True))
    ]


def _chunk(page: Page, section: Section, span: Span, position: int, chunk_id: str) -> Chunk:
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


def _measure(text: str, count_tokens: CountTokens, alone: int) -> Measure:
    def measure(ranges: Sequence[tuple[int, int]]) -> list[Span]:
        counts = count_tokens([text[start:end] for start, end in ranges])
        return [Span(*span, count - alone) for span, count in zip(ranges, counts, strict=True)]

    return measure


def _units(text: str, section: Section, budget: Budget, measure: Measure) -> Iterator[Span]:
    """The section's blocks, those that are too large in parts."""
    whole = measure([(block.start, block.end) for block in section.blocks])
    lead: Span | None = None
    for block, span in zip(section.blocks, whole, strict=True):
        unit = span if lead is None else _joined(lead, span, budget)
        if lead is not None and not _announces(text, lead, block.kind):
            yield lead
            unit, lead = span, None
        if not _fits(unit, budget.most):
            parts = list(_cut(text, span, _SEAMS[block.kind], budget.beside(lead), measure))
            yield from _led(lead, parts, budget)
            lead = None
            continue
        lead = None
        if block.kind == "prose" and unit.tokens < budget.target // 4:
            lead = unit
        else:
            yield unit
    if lead is not None:
        yield lead


def _led(lead: Span | None, parts: list[Span], budget: Budget) -> list[Span]:
    """The parts with what announces them at the head of the first."""
    if lead is None:
        return parts
    joined = _joined(lead, parts[0], budget)
    return [joined, *parts[1:]] if _fits(joined, budget.most) else [lead, *parts]


def _announces(text: str, lead: Span, kind: BlockKind) -> bool:
    """Whether a short paragraph belongs to what follows: "For example:", the title of a listing or a note."""
    return kind in ("code", "table") or not text[lead.start : lead.end].endswith((".", "!", "?", "…", "。"))


def _joined(before: Span, after: Span, budget: Budget) -> Span:
    return Span(before.start, after.end, before.tokens + budget.joint + after.tokens)


def _fits(span: Span, most: int) -> bool:
    return span.tokens <= most and span.end - span.start <= MAX_CHARACTERS


def _cut(
    text: str, span: Span, seams: Sequence[re.Pattern[str]], budget: Budget, measure: Measure
) -> Iterator[Span]:
    """Parts of a span that each fit, cut at the first kind of seam that makes them small enough."""
    seam, *finer = seams
    places = [(m.start(), m.end()) for m in seam.finditer(text, span.start, span.end)]
    edges = [span.start, *(edge for place in places for edge in place), span.end]
    ranges = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if text[a:b].strip()]
    parts: list[Span] = []
    for part in measure(ranges):
        if _fits(part, budget.most) or not finer:
            parts.append(part)
        else:
            parts += _cut(text, part, finer, budget, measure)
    yield from _pack(parts, budget)


def _pack(units: Sequence[Span] | Iterator[Span], budget: Budget) -> list[Span]:
    """Neighbours joined up to the target size; a small piece rather joins another than stands alone."""
    packed: list[Span] = []
    small = budget.target // 4
    for unit in units:
        if packed:
            joined = _joined(packed[-1], unit, budget)
            aim = budget.most if min(packed[-1].tokens, unit.tokens) < small else budget.target
            if _fits(joined, aim):
                packed[-1] = joined
                continue
        packed.append(unit)
    return packed
