"""How readable chunks are: the shares that are cut inside a code block, and that have a few words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pertinent.embedders.local import LocalEmbedder
from pertinent.indexing.chunking import FEW_WORDS, MAX_CHARACTERS, chunk_page, embedded_text
from pertinent.sources import open_source
from pertinent.types import Chunk, Page

TARGET = 200


def measure(folder: Path) -> dict[str, Any]:
    embedder = LocalEmbedder.load_minilm()
    pages = [page for page in open_source(str(folder)).read() if isinstance(page, Page)]
    chunks = {
        page.document_id: chunk_page(page, embedder.count_tokens, target=TARGET, most=embedder.max_tokens)
        for page in pages
    }
    texts = [chunk for page_chunks in chunks.values() for chunk in page_chunks]
    tokens = embedder.count_tokens([embedded_text(chunk) for chunk in texts])
    cut = sum(1 for page in pages for _ in find_cut_chunks(page, chunks[page.document_id]))
    return {
        "pages": len(pages),
        "chunks": len(texts),
        "cut_inside_a_fence": round(cut / len(texts), 4),
        "odd_number_of_fences": round(sum(chunk.text.count("```") % 2 for chunk in texts) / len(texts), 4),
        "under_80_characters": round(sum(len(chunk.text) < FEW_WORDS for chunk in texts) / len(texts), 4),
        "longer_than_the_window": round(sum(count > embedder.max_tokens for count in tokens) / len(texts), 4),
        "longest": max(len(chunk.text) for chunk in texts),
        "over_the_limit": sum(len(chunk.text) > MAX_CHARACTERS for chunk in texts),
    }


def find_cut_chunks(page: Page, chunks: list[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks that begin or end inside a code block of the page."""
    blocks = [b for section in page.sections for b in section.blocks if b.kind == "code"]
    for chunk in chunks:
        if any(b.start < edge < b.end for b in blocks for edge in (chunk.start, chunk.end)):
            yield chunk
