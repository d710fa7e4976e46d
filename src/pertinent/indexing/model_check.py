"""Check that the model still gives the vectors that the index has.

A hosted model may be replaced under its name. Its new vectors can't be compared with the stored ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from .._internal.vector_checksum import find_mismatches
from ..errors import DamagedPage, FingerprintMismatch
from ..identity import embedding_key, point_id
from ..ports import CatalogReader, Embedder, Vector, VectorIndex
from ..types import Chunk, readable_chunks
from .chunking import embedded_text

SAME_VECTOR = 0.99
"""The least cosine of two vectors of the same text.

Storing vectors costs some precision, and a hosted model differs slightly from call to call.
"""

MAX_TRIED = 100
"""How many chunks are tried to find one whose embedded text is known."""


def check_model(
    embedder: Embedder, index: VectorIndex, catalog: CatalogReader, chunks: Iterable[Chunk] | None = None
) -> None:
    """Embed one stored chunk again; an index without an intact chunk of a known text is not checked.

    Args:
        embedder: The model.
        index: The index.
        catalog: The pages of the chunks.
        chunks: Stored chunks, of which the first intact one is embedded; None is any chunk of the index.

    Raises:
        FingerprintMismatch: The model gives the chunk another vector than the index has.
    """
    stored = readable_chunks(index.scan()) if chunks is None else chunks
    for chunk, text, vector in islice(_read_embedded(embedder, index, catalog, stored), 1):
        (new_vector,) = embedder.embed_documents([text])
        cosine = compute_cosine(new_vector, vector)
        # Also refuses NaN.
        if not cosine >= SAME_VECTOR:
            raise FingerprintMismatch(
                f"the model {embedder.name} is not the one that made the index: it gives the chunk "
                f"{chunk.chunk_id} another vector than the index has (cosine {cosine:.2f}). Run `pertinent "
                "reindex`, which embeds every chunk again, or restore the model"
            )


def compute_cosine(vector: Vector, stored: Vector | None) -> float:
    """Return the cosine of two unit vectors; 0 if the stored one is missing or has another dimension."""
    return float(vector @ stored) if stored is not None and len(vector) == len(stored) else 0.0


def _read_embedded(
    embedder: Embedder, index: VectorIndex, catalog: CatalogReader, chunks: Iterable[Chunk]
) -> Iterator[tuple[Chunk, str, Vector]]:
    """Yield stored chunks with the text that was embedded for them and their intact vector."""
    for chunk in islice(chunks, MAX_TRIED):
        try:
            page = catalog.page(chunk.document_id)
        except DamagedPage:
            continue
        text = embedded_text(chunk, page.front_matter) if page else embedded_text(chunk)
        point = point_id(chunk.chunk_id)
        if index.embedding_keys([point]).get(point) != embedding_key(embedder.name, text):
            continue
        vectors = index.vectors([point])
        if vectors and not find_mismatches(vectors, index.vector_checksums([point])):
            yield chunk, text, vectors[point]
