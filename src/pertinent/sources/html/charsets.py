"""Conversion of a page to UTF-8 from any encoding, even if the declared encoding is wrong."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META_CHARSET = re.compile(rb"<meta[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_MIN_VALID_SHARE = 4  # valid letters beyond ASCII for each damaged one
_PRESCAN = 4096  # browsers look at 1,024 bytes; some pages have a long comment above the head

# The encodings that a page may name: those of the Encoding Standard, by their names in Python. Python has
# others, such as `zlib` and `punycode`, which must not run on untrusted input.
_UTF_16 = frozenset(("utf-16", "utf-16-le", "utf-16-be"))
_SEVEN_BIT = frozenset(("iso2022_jp", "hz"))
_ALLOWED = (
    _UTF_16
    | _SEVEN_BIT
    | frozenset(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 14, 15, 16))
    | frozenset(f"cp{page}" for page in (866, 874, 932, 949, *range(1250, 1259)))
    | frozenset(
        ["koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "gbk", "gb2312", "gb18030", "big5", "big5hkscs"]
    )
    | frozenset(["euc_jp", "euc_kr", "shift_jis"])
)
_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}


def to_utf8(html: bytes | str, charset: str | None) -> bytes:
    """Convert a page to UTF-8 without a byte order mark; `charset` is what the server named.

    A byte order mark decides first. Next, text that is UTF-8 but for a few damaged letters is taken as
    UTF-8: no other text looks like it by chance, while wrong headers are common. Next come the charset of
    the server, that of the page, and windows-1252, which can decode anything.
    """
    if isinstance(html, str):
        return html.removeprefix("\ufeff").encode("utf-8", "replace")
    for byte_order_mark, name in _BYTE_ORDER_MARKS:
        if html.startswith(byte_order_mark):
            return html[len(byte_order_mark) :].decode(name, "replace").encode("utf-8", "replace")
    named = list(_named_charsets(html, charset))
    first = [name for name in named if name in _SEVEN_BIT or (name in _UTF_16 and b"\0" in html)]
    for name in (*first, "utf-8", *named):
        try:
            text = html.decode(name)
        except UnicodeError:
            if name == "utf-8" and (repaired := _repair_utf8(html)):
                return repaired
            continue
        return html if name == "utf-8" else text.encode("utf-8", "replace")
    return html.decode("cp1252", "replace").encode()


def _repair_utf8(html: bytes) -> bytes:
    """Replace the damaged letters of a text that is mostly UTF-8; empty where it is something else."""
    text = html.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    valid = len(_BEYOND_ASCII.findall(text)) - damaged
    return text.encode() if valid >= _MIN_VALID_SHARE * damaged else b""


def _named_charsets(html: bytes, charset: str | None) -> Iterator[str]:
    """The charsets that the server and the page name, if they are allowed."""
    match = _META_CHARSET.search(html, 0, _PRESCAN)
    for label in (charset, match.group(1).decode("latin-1") if match else None):
        try:
            name = codecs.lookup((label or "").strip(" \"'")).name
        except (LookupError, ValueError):
            continue
        if name in _ALLOWED:
            yield _SUPERSETS.get(name, name)
