"""Terms: identifiers whole and in parts, every language, and the same terms for the same text."""

from __future__ import annotations

import unicodedata

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from pertinent.search.terms import LONGEST_CACHED, Analyzer, tokens, words
from pertinent.types import LANGUAGES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("useWindowDimensions", ["usewindowdimensions", "use", "window", "dimensions"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("dotted.names", ["dotted.names", "dotted", "names"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("parseHTML5", ["parsehtml5", "parse", "html", "5"]),
        ("URLs and IDs", ["urls", "and", "ids"]),
        ("plugin-content-docs", ["plugin", "content", "docs"]),
        ("Größe ÜberNode", ["grösse", "übernode", "über", "node"]),
        ("ﬁle", ["file"]),
        ("मोटर_गति", ["मोटर_गति", "मोटर", "गति"]),
        ("end. Next", ["end", "next"]),
        ("", []),
    ],
)
def test_words_splits_identifiers_whole_and_in_parts(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("日本語検索", ["日本", "本語", "語検", "検索"]),
        ("検索API設定", ["検索", "api", "設定"]),
        ("문서 검색", ["문서", "검색"]),
        ("字", ["字"]),
    ],
)
def test_words_splits_cjk_into_pairs(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी में खोज", ["हिन्दी", "में", "खोज"]),
        ("தேடல் இயந்திரம்", ["தேடல்", "இயந்திரம்"]),
        ("تلقائيًا يُحفظ", ["تلقائيًا", "يُحفظ"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("İstanbul", ["i̇stanbul"]),
        ("तक। अब", ["तक", "अब"]),
        ("\u0301a", ["a"]),
    ],
)
def test_words_keep_their_vowel_signs_and_accents(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected
    assert [token.text.casefold() for token in tokens(text)] == expected


def test_tokens_of_a_decomposed_text_are_whole_words() -> None:
    text = unicodedata.normalize("NFD", "naïve Größe")
    assert [unicodedata.normalize("NFC", token.text) for token in tokens(text)] == ["naïve", "Größe"]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("english", "the running of nodes", ["run", "node"]),
        ("german", "die Häuser und Straßen", ["haus", "strass"]),
        ("none", "the running", ["the", "running"]),
        ("hindi", "किताब किताबें", None),
        ("arabic", "تلقائيًا تلقائيا", None),
        ("czech", "město městy", None),
    ],
)
def test_analyzer_stems_by_language(language: str, text: str, expected: list[str] | None) -> None:
    terms = Analyzer(language).terms(text)
    assert terms == expected if expected is not None else len(set(terms)) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_gives_terms(language: str) -> None:
    assert Analyzer(language).terms("createStore 検索")


def test_languages_include_every_stemmer_of_snowball() -> None:
    assert set(Stemmer.algorithms()) - {"porter", "dutch_porter"} < set(LANGUAGES)


@given(st.text(max_size=60))
def test_words_are_folded_and_the_same_for_equivalent_texts(text: str) -> None:
    found = list(words(text))
    assert all(word == word.casefold() for word in found)
    assert list(words(unicodedata.normalize("NFKC", text))) == found


@given(st.text(max_size=60))
def test_tokens_are_slices_of_the_text(text: str) -> None:
    assert all(text[token.start : token.end] == token.text for token in tokens(text))


@given(st.text(max_size=60))
def test_a_text_that_is_not_cached_has_the_same_words(text: str) -> None:
    long_piece = "x" * (LONGEST_CACHED + 1)
    assert list(words(f"{text} {long_piece}")) == [*words(text), long_piece]
    analyzer = Analyzer("english")
    terms, length = analyzer.terms_and_length(text)
    assert analyzer.terms_and_length(f"{text} {long_piece}") == ([*terms, long_piece], length + 1)
