"""Detection of the charset of a page."""

from __future__ import annotations

import pytest

from pertinent.sources.html import parse_html
from pertinent.sources.html.charsets import to_utf8

WORDS = "Grüße, naïve café"
JAPANESE = "日本語の文章"


def encoded(html: str, charset: str) -> bytes:
    return f"<meta charset={charset}>{html}".encode(charset)


@pytest.mark.parametrize(
    ("html", "charset", "text"),
    [
        (WORDS.encode(), None, WORDS),
        (WORDS.encode(), "utf-8", WORDS),
        (WORDS.encode("utf-8-sig"), "iso-8859-1", WORDS),
        (WORDS.encode("utf-16"), None, WORDS),
        (b"\xfe\xff" + WORDS.encode("utf-16-be"), "utf-8", WORDS),
        (WORDS.encode("utf-16-le"), "utf-16le", WORDS),
        (WORDS.encode("cp1252"), None, WORDS),
        (WORDS.encode("cp1252"), "utf-8", WORDS),
        (WORDS.encode("cp1252"), "ascii", WORDS),
        ("Привет".encode("cp1251"), "windows-1251", "Привет"),
        ("Привет".encode("koi8-r"), '"KOI8-R"', "Привет"),
        (JAPANESE.encode("shift_jis"), "Shift_JIS", JAPANESE),
        (JAPANESE.encode("iso2022_jp"), "iso-2022-jp", JAPANESE),
        (JAPANESE.encode("gb18030"), "gb2312", JAPANESE),
        (WORDS.encode(), "iso-8859-1", WORDS),  # a lie: the commonest header there is
        (WORDS.encode("cp1252"), "utf-16", WORDS),
        (WORDS.encode("cp1252"), "no-such-thing", WORDS),
        (WORDS.encode("cp1252"), "zlib", WORDS),
        (WORDS.encode("cp1252"), "punycode", WORDS),
        (WORDS.encode("cp1252"), "\0", WORDS),
        (("é" * 4).encode() + b"\xff", "iso-8859-1", "éééé\ufffd"),
        (("é" * 3).encode() + b"\xff", "iso-8859-1", "Ã©Ã©Ã©ÿ"),
    ],
)
def test_charset_is_detected_from_the_bytes(html: bytes, charset: str | None, text: str) -> None:
    assert to_utf8(html, charset).decode() == text


@pytest.mark.parametrize("charset", ["windows-1251", "koi8-r", "utf-8"])
def test_charset_is_read_from_the_page(charset: str) -> None:
    assert parse_html(encoded("<p>Привет</p>", charset), "https://x.example/").pieces[-1].text == "Привет"


def test_charset_of_the_server_wins_over_that_of_the_page() -> None:
    html = b"<meta charset=koi8-r>" + "Привет".encode("cp1251")
    assert to_utf8(html, "windows-1251").decode().endswith("Привет")


def test_control_characters_are_removed() -> None:
    article = parse_html(
        "<title>a\0b</title><h1>T\x08</h1><p>x\0y &#8; \ud800 z\x85</p><pre>a\0\x0bb\tc</pre>", "u"
    )
    assert [piece.text for piece in article.pieces[1:]] == ["xy ? z", "```\nab\tc\n```"]
    assert article.pieces[0].text == "T"
