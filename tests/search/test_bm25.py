"""BM25 weights against a direct computation."""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.search.bm25 import MAX_WEIGHT, Bm25
from pertinent.search.terms import Analyzer
from pertinent.types import LANGUAGES

TEXT = "Nodes publish messages. A node subscribes to messages of other nodes."


def weights_of(text: str, language: str = "english") -> dict[int, float]:
    return dict(zip(*Bm25(language).document(text), strict=True))


def hashes_of(*terms: str) -> set[int]:
    return {crc32(term.encode()) for term in terms}


def test_document_weights_are_those_of_bm25() -> None:
    # Without stop words: nodes publish messages node subscribes messages nodes.
    counts = {"node": 3, "publish": 1, "messag": 2, "subscrib": 1}
    saturation = 1.2 * (1 - 0.5 + 0.5 * 7 / 128)
    assert weights_of(TEXT) == {
        crc32(term.encode()): pytest.approx(count * 2.2 / (count + saturation))
        for term, count in counts.items()
    }


def test_a_longer_document_weighs_the_same_term_less() -> None:
    term = crc32(b"node")
    assert weights_of("node")[term] > weights_of("node publishes many messages")[term] > 0


@given(st.text(max_size=200))
def test_weights_are_positive_and_below_the_highest_one(text: str) -> None:
    indices, values = Bm25().document(text)
    assert len(set(indices)) == len(indices) == len(values)
    assert all(0 < value < MAX_WEIGHT for value in values)
    assert set(Bm25().query(text).indices) == set(indices)


@given(st.text(max_size=100))
def test_query_terms_weigh_one_each(text: str) -> None:
    terms = set(Analyzer().terms(text))
    query = Bm25().query(text)
    assert set(query.indices) == hashes_of(*terms)
    assert query.values == [1.0] * len(query.indices)


def test_a_query_of_stop_words_has_no_terms() -> None:
    assert Bm25().query("the of and") == ([], [])
    assert Bm25("none").query("the of and").values == [1.0] * 3


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("useWindowDimensions", "window dimensions"),
        ("snake_case", "case snake"),
        ("docusaurus.config", "config docusaurus"),
    ],
)
def test_an_identifier_is_found_whole_and_by_its_parts(identifier: str, parts: str) -> None:
    document = weights_of(f"Call {identifier} here.").keys()
    assert document >= set(Bm25().query(identifier).indices)
    assert document >= set(Bm25().query(parts).indices)


def test_the_parts_of_an_identifier_do_not_make_a_document_longer() -> None:
    plain, identifier = weights_of("call hook"), weights_of("call useWindowDimensions")
    assert identifier[crc32(b"call")] == plain[crc32(b"call")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_finds_its_own_words(language: str) -> None:
    text = "createStore Größe 検索設定 поиск αναζήτηση"
    bm25 = Bm25(language)
    assert set(bm25.query("createStore 検索").indices) <= set(bm25.document(text).indices)
    assert len(bm25.document(text).indices) >= 6
    assert bm25.settings.endswith(f" {language}")
    assert Bm25.from_settings(bm25.settings).settings == bm25.settings


@pytest.mark.parametrize("settings", ["bm25 english-stop-words", "", "bm25 klingon"])
def test_settings_without_a_known_language_mean_english(settings: str) -> None:
    assert Bm25.from_settings(settings).language == "english"


def test_other_case_and_compatible_characters_give_the_same_weights() -> None:
    assert weights_of("ﬁle ＮＯＤＥ") == weights_of("file node")
