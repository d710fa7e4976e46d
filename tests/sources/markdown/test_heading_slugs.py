"""Slugs as github-slugger 1.5 gives them; the expected values were taken from the npm package."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.markdown.heading_slugs import Slugger, slugify


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Hello World", "hello-world"),
        ("two  spaces", "two--spaces"),
        (" edges ", "-edges-"),
        ('npm install & friends — don\'t "quote"', "npm-install--friends--dont-quote"),
        ("Ünïcode Straße 日本語 🎉 emoji", "ünïcode-straße-日本語--emoji"),
        ("Emoji ❤️ variation", "emoji-️-variation"),
        ("$price_in_$ C++ & C# (v2.0) / [x]", "price_in_-c--c-v20--x"),
        ("中文 标题！？", "中文-标题"),
        ("İstanbul ΣΑΣ", "i̇stanbul-σας"),
        ("Ⓐ circled ⅷ", "ⓐ-circled-ⅷ"),
        ("tab\tand\nline", "tabandline"),
        ("nbsp\u00a0here", "nbsphere"),
        ("", ""),
    ],
)
def test_slugify_keeps_letters_numbers_spaces_and_hyphens(text: str, slug: str) -> None:
    assert slugify(text) == slug


def test_slugger_numbers_repeated_headings() -> None:
    slugger = Slugger()
    headings = ["Setup", "Setup", "Setup 1", "Setup-1", "Setup", "constructor", "constructor", "", ""]
    expected = ["setup", "setup-1", "setup-1-1", "setup-1-2", "setup-2", "constructor", "constructor-1"]
    assert [slugger.slug(heading) for heading in headings] == [*expected, "", "-1"]


@given(st.lists(st.text(alphabet="aB- 1é", max_size=4), max_size=30))
def test_slugger_never_repeats_a_slug(texts: list[str]) -> None:
    slugger = Slugger()
    slugs = [slugger.slug(text) for text in texts]
    assert len(set(slugs)) == len(slugs)


@given(st.text())
def test_slugify_is_idempotent(text: str) -> None:
    slug = slugify(text)
    assert slugify(slug) == slug
    assert not set(slug) & set(" \t\n#?/.,:;!&=\"'<>{}()[]`")
