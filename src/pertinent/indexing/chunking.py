"""Chunking: pages are split along their structure, into sizes measured in the embedder's tokens.

A chunk stays below its heading. A paragraph or a table stays in one chunk if it fits the embedder; a
longer one is split at sentences or rows, then at words, then at characters. A code block stays in one
chunk if it has at most 1,999 characters, even if the embedder reads only its beginning; a longer one is
cut between its top-level constructs. A text of a few words does not become a chunk by itself: it joins a
neighbour in its section, else it starts at its heading, else it joins the subsection that it introduces.
A lead is a short paragraph that introduces the next block; both stay in one chunk if they fit. The same
page and the same token counter always give the same chunks, byte for byte.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

from .. import identity
from .._internal.code_splitter import split_code
from ..types import SECTION_SEPARATOR, Block, BlockKind, Chunk, FrontMatter, Page, Section

CHUNKER_VERSION = 4
"""Part of an index's fingerprint: increase it whenever the same page would give other embedded texts."""
MAX_CHARACTERS = 1999
FEW_WORDS = 80
"""A text of fewer characters, and less than a quarter of the target, is no chunk if it has a neighbour."""
MAX_WINDOW = 20_000
"""How many characters of a very long word are split at once: each of them is measured on its own."""
CONTEXT_MAX = 60
"""About how many tokens the context above a chunk may have."""

NO_FRONT_MATTER = FrontMatter()

CountTokens = Callable[[Sequence[str]], list[int]]

_SENTENCE = re.compile(r"""(?<=[.!?…])\s+|(?<=[.!?…]["'”’)\]])\s+|(?<=[。！？])\s*""")
_HEADING = re.compile(r"^(#{1,6}) ", re.MULTILINE)
_LINE = re.compile(r"\n")
_PARAGRAPH = re.compile(r"\n\s*\n")
_WORD = re.compile(r"\s+")
_CHARACTER = re.compile(r"(?<=.)(?=.)", re.DOTALL)
_SEPARATORS: dict[BlockKind, tuple[re.Pattern[str], ...]] = {
    "prose": (_PARAGRAPH, _SENTENCE, _WORD, _CHARACTER),
    "item": (_PARAGRAPH, _SENTENCE, _WORD, _CHARACTER),
    "code": (_LINE, _WORD, _CHARACTER),
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

    @property
    def small(self) -> int:
        """A span with fewer tokens may join a neighbour even beyond the target size."""
        return self.target // 4

    def reserve(self, lead: Span | None) -> Budget:
        """Return the budget that remains for a block after its lead."""
        if lead is None:
            return self
        most = max(self.most - lead.tokens - self.join_cost, 1)
        return Budget(min(self.target, most), most, self.join_cost)


class _CitedSpan(NamedTuple):
    """The span of a chunk, and the section that it is cited by."""

    section: Section
    span: Span
    budget: Budget


def context(title: str, section: str) -> str:
    """Return the line that is embedded above a chunk's text: its title and headings.

    A long one is cut at the front, so that the nearest heading stays.
    """
    breadcrumb = SECTION_SEPARATOR.join(filter(None, (title, section)))
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


def embedded_text(chunk: Chunk, front_matter: FrontMatter = NO_FRONT_MATTER) -> str:
    """Return what is embedded and indexed lexically for a chunk: its context and its text.

    The first chunk of a page also has what the front matter of the page says.
    """
    line = context(_title_to_embed(chunk), chunk.section)
    return "\n\n".join(filter(None, (line, front_matter.text_above(chunk.position), chunk.text)))


def _title_to_embed(item: Page | Chunk) -> str:
    """Return the title; "" if it is only the page's path, as for a BEIR document without a title."""
    return "" if item.title == item.source_path else item.title


def chunk_page(page: Page, count_tokens: CountTokens, *, target: int, most: int) -> list[Chunk]:
    """Split a page into chunks, in order; see `iterate_chunks`."""
    return list(iterate_chunks(page, count_tokens, target=target, most=most))


def iterate_chunks(page: Page, count_tokens: CountTokens, *, target: int, most: int) -> Iterator[Chunk]:
    """Split a page into chunks, and yield them in order.

    Args:
        page: The page.
        count_tokens: The embedder's token counter.
        target: About how many tokens a chunk should have.
        most: How many tokens a chunk may have, with its context.
    """
    special_tokens, single, joined = count_tokens(["", "a", "a\n\na"])
    join_cost = joined - 2 * single + special_tokens
    measure = _make_measure(page.text, count_tokens, special_tokens)
    passages: list[_CitedSpan] = []
    for section in page.sections:
        (context_tokens,) = count_tokens(
            [context(_title_to_embed(page), SECTION_SEPARATOR.join(section.path))]
        )
        room = max(most - context_tokens - join_cost, 1)
        budget = Budget(min(target, room), room, join_cost)
        units = _split_section(page.text, section, budget, measure)
        spans = _join_few_words(_group(units, budget), budget)
        passages += (_CitedSpan(section, span, budget) for span in spans)
    if not _lists_short_entries(page):
        passages = _join_short_sections(_begin_at_headings(page.text, passages, measure), measure)
    texts = (page.text[passage.span.start : passage.span.end] for passage in passages)
    ids = identity.chunk_ids(page.document_id, texts)
    for position, (chunk_id, passage) in enumerate(zip(ids, passages, strict=True)):
        yield _make_chunk(page, passage.section, passage.span, position, chunk_id)


def _make_chunk(page: Page, section: Section, span: Span, position: int, chunk_id: str) -> Chunk:
    text = page.text[span.start : span.end]
    return Chunk(
        chunk_id=chunk_id,
        document_id=page.document_id,
        url=page.url,
        anchor=section.anchor,
        title=page.title,
        section=SECTION_SEPARATOR.join(section.path),
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
"""Counts the tokens of ranges of a text; 0 for one that no chunk has room for, which may be huge."""


def _make_measure(text: str, count_tokens: CountTokens, special_tokens: int) -> Measure:
    def measure(ranges: Sequence[tuple[int, int]]) -> list[Span]:
        counts = count_tokens([text[a:b] if b - a <= MAX_CHARACTERS else "" for a, b in ranges])
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
        most = _most_tokens(block, budget)
        if not _fits(unit, most):
            yield from _prepend_lead(
                lead, _split_block(text, block, span, lead, budget, measure), most, budget
            )
            lead = None
            continue
        lead = None
        if block.kind == "prose" and unit.tokens < budget.small:
            lead = unit
        else:
            yield unit
    if lead is not None:
        yield lead


def _most_tokens(block: Block, budget: Budget) -> int:
    """Return how many tokens a chunk with this block may have: code is not split to fit the embedder."""
    return sys.maxsize if block.kind == "code" else budget.most


def _split_block(
    text: str, block: Block, span: Span, lead: Span | None, budget: Budget, measure: Measure
) -> list[Span]:
    """Split a block that does not fit into a chunk with its lead."""
    if block.kind != "code":
        return list(_split(text, span, _SEPARATORS[block.kind], budget.reserve(lead), measure))
    ranges = split_code(text[block.start : block.end], MAX_CHARACTERS)
    parts: list[Span] = []
    for part in measure([(block.start + start, block.start + end) for start, end in ranges]):
        fits = _fits(part, _most_tokens(block, budget))
        parts += [part] if fits else _split(text, part, _SEPARATORS["code"], budget, measure)
    return parts


def _prepend_lead(lead: Span | None, parts: list[Span], most: int, budget: Budget) -> list[Span]:
    """Join the lead to the first of the parts, if both fit into a chunk."""
    if lead is None:
        return parts
    joined = _join(lead, parts[0], budget)
    return [joined, *parts[1:]] if _fits(joined, most) else [lead, *parts]


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
    if not finer and span.end - span.start > MAX_WINDOW:
        for start in range(span.start, span.end, MAX_WINDOW):
            window = Span(start, min(start + MAX_WINDOW, span.end), span.tokens)
            yield from _split(text, window, separators, budget, measure)
        return
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
    """Join neighbours up to the target size."""
    return [_merge(group, budget) for group in _group(units, budget)]


def _group(units: Iterable[Span], budget: Budget) -> list[list[Span]]:
    """Group neighbours up to the target size; a small one may exceed the target to avoid a tiny chunk."""
    groups: list[list[Span]] = []
    packed = Span(0, 0, 0)
    for unit in units:
        if groups:
            joined = _join(packed, unit, budget)
            limit = budget.most if min(packed.tokens, unit.tokens) < budget.small else budget.target
            if _fits(joined, limit):
                groups[-1].append(unit)
                packed = joined
                continue
        groups.append([unit])
        packed = unit
    return groups


def _merge(group: Sequence[Span], budget: Budget) -> Span:
    return reduce(lambda first, second: _join(first, second, budget), group)


def _join_few_words(groups: Iterable[list[Span]], budget: Budget) -> list[Span]:
    """Let a group of a few words take the last unit of the group above it, or else join a neighbour.

    The embedder may not read all of the joined groups; their words are indexed lexically all the same.
    """
    joined: list[list[Span]] = []
    for group in groups:
        above = joined[-1] if joined else []
        if not above or not (
            _has_few_words(_merge(group, budget), budget) or _has_few_words(_merge(above, budget), budget)
        ):
            joined.append(group)
        elif len(above) > 1 and _can_move_last_unit(above, group, budget):
            joined.append([above.pop(), *group])
        elif _fits(_merge([*above, *group], budget), sys.maxsize):
            above += group
        else:
            joined.append(group)
    return [_merge(group, budget) for group in joined]


def _can_move_last_unit(above: Sequence[Span], group: Sequence[Span], budget: Budget) -> bool:
    """Whether a group can move its last unit to the group below it, so that both are large enough."""
    remaining, extended = _merge(above[:-1], budget), _merge([above[-1], *group], budget)
    return _fits(extended, budget.most) and not (
        _has_few_words(remaining, budget) or _has_few_words(extended, budget)
    )


def _has_few_words(span: Span, budget: Budget) -> bool:
    return span.end - span.start < FEW_WORDS and span.tokens < budget.small


def _lists_short_entries(page: Page) -> bool:
    """Whether all sections have a few words, as in a glossary: each is what readers look for."""
    sections = (section.blocks for section in page.sections if section.blocks)
    return all(blocks[-1].end - blocks[0].start < FEW_WORDS for blocks in sections)


def _begin_at_headings(text: str, passages: Sequence[_CitedSpan], measure: Measure) -> list[_CitedSpan]:
    """Extend passages of a few words up to their headings; these alone would say little."""
    extended: list[_CitedSpan] = []
    previous_end = 0
    for section, span, budget in passages:
        with_heading = span
        if _has_few_words(span, budget) and span.start == section.blocks[0].start:
            (with_heading,) = measure([(_find_heading(text, previous_end, span.start), span.end)])
        extended.append(
            _CitedSpan(section, with_heading if _fits(with_heading, budget.most) else span, budget)
        )
        previous_end = span.end
    return extended


def _find_heading(text: str, start: int, end: int) -> int:
    """Return where the heading above `end` begins, with those above it that have no text of their own."""
    level, position = 7, end
    for match in reversed(list(_HEADING.finditer(text, start, end))):
        if len(match[1]) >= level:
            break
        level, position = len(match[1]), match.start()
    return position


def _join_short_sections(passages: Sequence[_CitedSpan], measure: Measure) -> list[_CitedSpan]:
    """Join sections of a few words to the subsection that they introduce, or to a small section above."""
    joined: list[_CitedSpan] = []
    for passage in passages:
        above = joined[-1] if joined else passage
        if _has_few_words(above.span, above.budget) and _is_subsection(passage.section, above.section):
            target = passage
        elif _has_few_words(passage.span, passage.budget) and _is_small_sibling(above, passage):
            target = above
        else:
            joined.append(passage)
            continue
        (span,) = measure([(above.span.start, passage.span.end)])
        if _fits(span, max(target.budget.most, target.span.tokens)):
            joined[-1] = target._replace(span=span)
        else:
            joined.append(passage)
    return joined


def _is_subsection(section: Section, upper: Section) -> bool:
    depth = len(upper.path)
    return len(section.path) > depth and section.path[:depth] == upper.path


def _is_small_sibling(above: _CitedSpan, passage: _CitedSpan) -> bool:
    """Whether the passage above is all of a small section under the same heading."""
    section = above.section
    is_all = above.span.end == section.blocks[-1].end and above.span.start <= section.blocks[0].start
    is_sibling = section.path[:-1] == passage.section.path[:-1] and section is not passage.section
    return is_all and is_sibling and above.span.tokens < above.budget.small
