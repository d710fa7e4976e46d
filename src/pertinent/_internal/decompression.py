"""Decompression of response bodies and sitemaps within a size limit.

A kilobyte can decompress to a megabyte, so that the size is checked while the body is decompressed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

ACCEPTED = "gzip, deflate"
"""The value of the Accept-Encoding header."""
GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""

_PIECE_BYTES = 16 * 1024
"""How much is given to zlib at once: it copies what follows each of the members of a gzip file."""
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS


class TooLarge(ValueError):
    """The body is larger than the limit."""


class Undecodable(ValueError):
    """The body is not in the encoding that its header names, or in one that was not requested."""


def decompress(chunks: Iterable[bytes], encoding: str, limit: int, *, cut: bool = False) -> bytes:
    """Join the chunks of a body and decompress it, up to `limit` bytes.

    `encoding` is the value of the Content-Encoding header. A body that is larger is cut if `cut` is set.
    Raises TooLarge or Undecodable.
    """
    names = [name.strip().lower() for name in encoding.split(",")]
    match [name for name in names if name and name != "identity"]:
        case []:
            parts: Iterable[bytes] = chunks
        case ["gzip" | "x-gzip" | "deflate"]:
            parts = _inflate(chunks, limit)
        case unsupported:
            raise Undecodable(f"is encoded as {', '.join(unsupported)}, which was not requested")
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > limit and cut:
            return bytes(body[:limit])
        if len(body) > limit:
            raise TooLarge
    return bytes(body)


def _inflate(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    inflater = None
    try:
        for piece in _split(chunks):
            compressed = piece
            while compressed:
                if inflater is None or inflater.eof:
                    inflater = zlib.decompressobj(_detect_format(compressed))
                yield inflater.decompress(compressed, limit + 1)
                # Either the next of several gzip members, or what would exceed the limit.
                compressed = inflater.unused_data or inflater.unconsumed_tail
    except zlib.error as error:
        raise Undecodable(f"can't be decompressed ({error})") from None
    if inflater is not None and not inflater.eof:
        raise Undecodable("ends in the middle of its compressed data")


def _split(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), _PIECE_BYTES):
            yield chunk[start : start + _PIECE_BYTES]


def _detect_format(first: bytes) -> int:
    """The `wbits` of zlib for these first bytes.

    By the standard, `deflate` means the zlib format; some servers send raw deflate data.
    """
    check = int.from_bytes(first[:2], "big") % 31 if len(first) > 1 else 0
    is_zlib = first[0] & 0x0F == zlib.DEFLATED and check == 0
    return _GZIP_OR_ZLIB if is_zlib or first.startswith(GZIP[: len(first)]) else _RAW_DEFLATE
