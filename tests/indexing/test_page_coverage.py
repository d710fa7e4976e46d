"""Whether chunks cover their page: a missing, moved or altered one is noticed, whatever the chunk size."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pertinent.indexing.page_coverage import covers_page
from pertinent.sources.normal_form import BlockPiece, Piece

from .test_chunking import PIECES, chunks, make_page


@given(PIECES, st.sampled_from([20, 40, 60]))
def test_all_chunks_cover_their_page(pieces: list[Piece], target: int) -> None:
    document = make_page(pieces)
    assert covers_page(document, chunks(document, target))


@given(PIECES, st.data())
def test_page_is_not_covered_without_one_of_its_chunks(pieces: list[Piece], data: st.DataObject) -> None:
    # A source makes no block of white space alone; a chunk of nothing else would not be missed.
    document = make_page([piece for piece in pieces if piece.text.strip()])
    complete = chunks(document)
    if complete:
        missing = data.draw(st.integers(0, len(complete) - 1))
        remaining = [*complete[:missing], *complete[missing + 1 :]]
        assert not covers_page(document, remaining)
        renumbered = [replace(chunk, position=position) for position, chunk in enumerate(remaining)]
        assert not covers_page(document, renumbered)


def test_altered_chunk_does_not_cover_its_page() -> None:
    document = make_page([BlockPiece("prose", "A joint has limits.")])
    (chunk,) = chunks(document)
    assert covers_page(document, [chunk])
    assert not covers_page(document, [replace(chunk, text=chunk.text.upper())])
    assert not covers_page(document, [replace(chunk, text=chunk.text[:5], end=chunk.start + 5)])
