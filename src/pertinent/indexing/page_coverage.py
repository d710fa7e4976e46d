"""Whether stored chunks are all the chunks of a page.

Chunking puts each character of a page's blocks, except white space, into exactly one chunk, so a missing
chunk leaves characters of a block uncovered. This needs neither the model nor the settings of the build.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..types import Chunk, Page


def covers_page(page: Page, chunks: Sequence[Chunk]) -> bool:
    """Whether the chunks, in order of position, are slices of the page, and none is missing."""
    return (
        [chunk.position for chunk in chunks] == list(range(len(chunks)))
        and all(chunk.is_slice_of(page.text) for chunk in chunks)
        and not any(text.strip() for text in _find_uncovered_texts(page, chunks))
    )


def _find_uncovered_texts(page: Page, chunks: Sequence[Chunk]) -> Iterator[str]:
    """Yield the parts of blocks that are in no chunk."""
    blocks = iter([block for section in page.sections for block in section.blocks])
    block = next(blocks, None)
    gap_starts = [0, *(chunk.end for chunk in chunks)]
    gap_ends = [*(chunk.start for chunk in chunks), len(page.text)]
    for gap_start, gap_end in zip(gap_starts, gap_ends, strict=True):
        while block is not None and block.start < gap_end:
            yield page.text[max(block.start, gap_start) : min(block.end, gap_end)]
            if block.end > gap_end:
                break  # a part of it is in the next chunk
            block = next(blocks, None)
