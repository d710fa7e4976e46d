"""Bodies decompressed within a bound: a megabyte of zeros takes a kilobyte to send."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

ACCEPTED = "gzip, deflate"
GZIP = b"\x1f\x8b"

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_BARE = -zlib.MAX_WBITS


class TooLarge(ValueError):
    """There is more than may be read."""


class Undecodable(ValueError):
    """The bytes are not in the encoding that they are said to be in."""


def decoded(chunks: Iterable[bytes], encoding: str, limit: int) -> bytes:
    """The whole body, at most `limit` bytes of it after decompression."""
    names = [name for name in (one.strip().lower() for one in encoding.split(",")) if name != "identity"]
    match [name for name in names if name]:
        case []:
            pieces: Iterable[bytes] = chunks
        case ["gzip" | "x-gzip" | "deflate"]:
            pieces = _inflated(chunks, limit)
        case other:
            raise Undecodable(f"is encoded as {', '.join(other)}, which was not asked for")
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > limit:
            raise TooLarge
    return bytes(body)


def _inflated(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    inflater = None
    try:
        for chunk in chunks:
            while chunk:
                if inflater is None or inflater.eof:
                    inflater = zlib.decompressobj(_form(chunk))
                yield inflater.decompress(chunk, limit + 1)
                # Either what follows the end of one compressed part, or what would go beyond the limit.
                chunk = inflater.unused_data or inflater.unconsumed_tail  # noqa: PLW2901 - what is left of it
    except zlib.error as error:
        raise Undecodable(f"can't be decompressed ({error})") from None
    if inflater is not None and not inflater.eof:
        raise Undecodable("breaks off in the middle of its compressed form")


def _form(first: bytes) -> int:
    """`deflate` means zlib's form by the standard, and the bare one by what some servers send."""
    check = int.from_bytes(first[:2], "big") % 31 if len(first) > 1 else 0
    zlibs = first[0] & 0x0F == zlib.DEFLATED and check == 0
    return _GZIP_OR_ZLIB if zlibs or first.startswith(GZIP[: len(first)]) else _BARE
