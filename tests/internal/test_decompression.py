from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent._internal.decompression import TooLarge, Undecodable, decompress

MB = 2**20


@given(st.lists(st.binary(max_size=50)), st.sampled_from(["gzip", "deflate", "x-gzip", "", "identity"]))
def test_decompress_reverses_compression(chunks: list[bytes], encoding: str) -> None:
    body = b"".join(chunks)
    compressed = {"": body, "identity": body, "deflate": zlib.compress(body)}.get(
        encoding, gzip.compress(body)
    )
    sent = [compressed[n : n + 7] for n in range(0, len(compressed), 7)]
    assert decompress(sent, encoding, limit=10_000) == body


def test_decompress_reads_raw_deflate_and_several_gzip_members() -> None:
    maker = zlib.compressobj(wbits=-15)
    assert decompress([maker.compress(b"text") + maker.flush()], "deflate", 100) == b"text"
    assert decompress([gzip.compress(b"one "), gzip.compress(b"two")], "gzip", 100) == b"one two"


def test_decompress_stops_at_the_size_limit() -> None:
    bomb = gzip.compress(b"\0" * (50 * MB))
    with pytest.raises(TooLarge):
        decompress([bomb], "gzip", MB)


@pytest.mark.parametrize(("body", "encoding"), [(b"not gzip", "gzip"), (b"x", "br"), (b"x", "gzip, gzip")])
def test_decompress_refuses_a_wrong_encoding(body: bytes, encoding: str) -> None:
    with pytest.raises(Undecodable):
        decompress([body], encoding, MB)


def test_many_gzip_members_in_one_chunk_are_read_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    original = zlib.decompressobj

    class Inflater:
        def __init__(self, wbits: int) -> None:
            self._inflater = original(wbits)

        def decompress(self, data: bytes, limit: int) -> bytes:
            sizes.append(len(data))
            return self._inflater.decompress(data, limit)

        def __getattr__(self, name: str) -> object:
            return getattr(self._inflater, name)

    monkeypatch.setattr(zlib, "decompressobj", Inflater)
    assert decompress([gzip.compress(b"a") * 10_000], "gzip", MB) == b"a" * 10_000
    assert max(sizes) <= 16 * 1024  # zlib copies what follows a member: one large chunk takes quadratic time
