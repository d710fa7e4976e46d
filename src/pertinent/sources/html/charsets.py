"""The bytes of a page as UTF-8, whatever they are in and whatever they are said to be in."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"<meta[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_SOUND = 4  # letters beyond ASCII for each damaged one
_PRESCAN = 4096  # browsers look at 1,024; a page with a long comment above its head is no worse for it

# What a page may name: the Encoding Standard's, in Python's names. Python knows others, `zlib` and
# `punycode` among them, and to decode by those would be to run what a stranger says.
_WIDE = frozenset(("utf-16", "utf-16-le", "utf-16-be"))
_SEVEN_BIT = frozenset(("iso2022_jp", "hz"))
_KNOWN = (
    _WIDE
    | _SEVEN_BIT
    | frozenset(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 14, 15, 16))
    | frozenset(f"cp{page}" for page in (866, 874, 932, 949, *range(1250, 1259)))
    | frozenset(
        ["koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "gbk", "gb2312", "gb18030", "big5", "big5hkscs"]
    )
    | frozenset(["euc_jp", "euc_kr", "shift_jis"])
)
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs"}


def as_utf8(html: bytes | str, charset: str | None) -> bytes:
    """The page in UTF-8 without a mark; `charset` is what its server said.

    A mark at the beginning is believed first. Then text that is UTF-8, but for a few damaged letters, is
    read as such, since no other text looks like it by chance, while headers that say otherwise are
    common. Then comes what the server says, what the page says, and windows-1252, which can read anything.
    """
    if isinstance(html, str):
        return html.removeprefix("\ufeff").encode("utf-8", "replace")
    for mark, name in _MARKS:
        if html.startswith(mark):
            return html[len(mark) :].decode(name, "replace").encode("utf-8", "replace")
    said = list(_said(html, charset))
    first = [name for name in said if name in _SEVEN_BIT or (name in _WIDE and b"\0" in html)]
    for name in (*first, "utf-8", *said):
        try:
            text = html.decode(name)
        except UnicodeError:
            if name == "utf-8" and (nearly := _nearly_utf8(html)):
                return nearly
            continue
        return html if name == "utf-8" else text.encode("utf-8", "replace")
    return html.decode("cp1252", "replace").encode()


def _nearly_utf8(html: bytes) -> bytes:
    """UTF-8 in which few letters beyond ASCII are damaged, with those marked; empty where it is none."""
    text = html.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    sound = len(_BEYOND_ASCII.findall(text)) - damaged
    return text.encode() if sound >= _SOUND * damaged else b""


def _said(html: bytes, charset: str | None) -> Iterator[str]:
    """What the server and the page name, where it is something that pages are written in."""
    match = _META.search(html, 0, _PRESCAN)
    for label in (charset, match.group(1).decode("latin-1") if match else None):
        try:
            name = codecs.lookup((label or "").strip(" \"'")).name
        except (LookupError, ValueError):
            continue
        if name in _KNOWN:
            yield _WIDER.get(name, name)
