from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.site.decompression import TooLarge, Undecodable, decompress

MB = 2**20


@given(st.lists(st.binary(max_size=50)), st.sampled_from(["gzip", "deflate", "x-gzip", "", "identity"]))
def test_what_was_compressed_comes_out_again(chunks: list[bytes], encoding: str) -> None:
    body = b"".join(chunks)
    compressed = {"": body, "identity": body, "deflate": zlib.compress(body)}.get(
        encoding, gzip.compress(body)
    )
    sent = [compressed[n : n + 7] for n in range(0, len(compressed), 7)]
    assert decompress(sent, encoding, limit=10_000) == body


def test_bare_deflate_and_several_parts_of_gzip_are_read() -> None:
    maker = zlib.compressobj(wbits=-15)
    assert decompress([maker.compress(b"text") + maker.flush()], "deflate", 100) == b"text"
    assert decompress([gzip.compress(b"one "), gzip.compress(b"two")], "gzip", 100) == b"one two"


def test_a_bomb_is_put_out_before_it_goes_off() -> None:
    bomb = gzip.compress(b"\0" * (50 * MB))
    with pytest.raises(TooLarge):
        decompress([bomb], "gzip", MB)


@pytest.mark.parametrize(("body", "encoding"), [(b"not gzip", "gzip"), (b"x", "br"), (b"x", "gzip, gzip")])
def test_what_is_not_in_its_encoding_is_refused(body: bytes, encoding: str) -> None:
    with pytest.raises(Undecodable):
        decompress([body], encoding, MB)
