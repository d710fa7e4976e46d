"""Ids, slugs, hashes and addresses."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent import identity

TEXT = st.text(st.characters(codec="utf-8"), max_size=80)


@given(TEXT)
def test_content_hash_is_sha256_of_utf8_in_64_hex_digits(text: str) -> None:
    assert identity.content_hash(text) == hashlib.sha256(text.encode()).hexdigest()
    assert re.fullmatch(r"[0-9a-f]{64}", identity.content_hash(text))


@given(TEXT, st.lists(TEXT, max_size=30))
def test_chunk_ids_are_unique_short_and_carry_their_page(key: str, texts: list[str]) -> None:
    page = identity.document_id(key)
    ids = list(identity.chunk_ids(page, texts))
    assert len(set(ids)) == len(texts)
    assert all(len(chunk_id) <= identity.CHUNK_ID_MAX and chunk_id.startswith(page) for chunk_id in ids)
    assert all(re.fullmatch(r"[a-z0-9-]+", chunk_id) for chunk_id in ids)


def test_chunk_ids_of_ten_million_equal_chunks_are_short() -> None:
    page = identity.document_id("https://example.org/" + "long-name/" * 9)
    assert len(f"{next(identity.chunk_ids(page, ['same']))}-9999999") <= identity.CHUNK_ID_MAX


def test_chunk_id_does_not_change_with_text_inserted_above() -> None:
    before = list(identity.chunk_ids("page", ["first", "second"]))
    after = list(identity.chunk_ids("page", ["new", "first", "second"]))
    assert after[1:] == before


def test_ids_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from pertinent import identity as i; p = i.document_id('https://a.example/x'); "
        "print(p, list(i.chunk_ids(p, ['é'])), i.point_id('c'))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@given(TEXT)
def test_point_id_is_a_uuid_of_the_chunk_id(text: str) -> None:
    assert identity.point_id(text).version == 5
    assert identity.point_id(text) == uuid5(UUID("6b3a8f0e-2d3c-5b0e-9f6e-70657274696e"), text)
    assert identity.point_id(text) == identity.point_id(text)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://Book.example/docs/", "https://book.example/docs"),
        ("https://book.example", "https://book.example/"),
        ("https://book.example/docs/index.html", "https://book.example/docs"),
        ("https://book.example:443/a#part", "https://book.example/a"),
        ("http://book.example:8080/a/", "http://book.example:8080/a"),
        ("file:///srv/docs/a.md", "file:///srv/docs/a.md"),
        ("https://book.example/指南", "https://book.example/%E6%8C%87%E5%8D%97"),
        ("https://book.example/caf%c3%a9/%61", "https://book.example/caf%C3%A9/a"),
        ("https://book.example/(odd)%2Fa", "https://book.example/(odd)%2Fa"),
    ],
)
def test_canonical_url_is_the_same_for_all_forms(url: str, canonical: str) -> None:
    assert identity.canonical_url(url) == canonical
    assert identity.canonical_url(canonical) == canonical


@given(
    st.lists(st.text("a1:\x1f", max_size=4), max_size=4), st.lists(st.text("a1:\x1f", max_size=4), max_size=4)
)
def test_digest_differs_for_strings_that_join_alike(first: list[str], second: list[str]) -> None:
    assert (identity.digest(*first) == identity.digest(*second)) == (first == second)


@given(TEXT)
def test_ascii_slug_is_url_friendly_and_at_most_100_characters(text: str) -> None:
    slug = identity.ascii_slug(text * 5)
    assert len(slug) <= identity.SLUG_MAX
    assert slug == "" or re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)


def test_shorten_cuts_with_an_ellipsis() -> None:
    assert identity.shorten("x" * 300, 255) == "x" * 254 + "…"
    assert identity.shorten("short", 255) == "short"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://book.example/docs", True), ("file:///docs/a%20b.md", True), ("beir://faq/1", True),
        ("s3://bucket/key", True), ("javascript:alert(1)", False), ("data:text/html,x", False),
        ("mailto:a@book.example", False), ("C:\\docs\\a.md", False), ("file:docs/a.md", False),
        ("not a url", False), ("/docs/a", False), ("https://book.example/a b", False),
        ("https://book.example/a\nb", False), ("http:///docs", False), ("http:docs", False),
        ("http://[", False), ("", False),
    ],
)  # fmt: skip
def test_seed_001_url_is_an_address_that_can_be_opened(text: str, expected: bool) -> None:
    assert identity.is_url(text) is expected
