"""The words of a book: rarity, names, and reading them again after a change."""

from __future__ import annotations

import math
import threading
import time
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.errors import CatalogFailure
from pertinent.ports import PageRecord
from pertinent.search import book_words_cache
from pertinent.search.book_words import BookWords, flatten
from pertinent.search.book_words_cache import BookWordsCache
from pertinent.search.terms import Analyzer
from pertinent.types import SectionName, Vocabulary, WordCounts

from .books import make_book

BOOK = make_book(
    ("Navigation", ["Nesting navigators", "Nesting navigators › Tabs"], "Moving between screens."),
    ("Stack", ["Headers"], "A stack of screens has a header."),
)


@pytest.mark.parametrize("word", ["navigation", "screens", "zebra"])
def test_word_weight_is_the_inverse_document_frequency_of_bm25(word: str) -> None:
    documents = BOOK.counts(word).texts
    assert BOOK.weigh_words([word]) == math.log(1 + (5 - documents + 0.5) / (documents + 0.5))


def test_rare_words_weigh_more_and_no_weight_is_negative() -> None:
    assert BOOK.weigh_words(["zebra"]) > BOOK.weigh_words(["headers"]) > BOOK.weigh_words(["screens"]) > 0


def test_term_weight_is_that_of_the_most_frequent_word_of_a_stem() -> None:
    stem = Analyzer().stem
    assert stem("header") == stem("headers")
    documents = max(BOOK.counts("header").texts, BOOK.counts("headers").texts)
    assert documents == 2
    assert BOOK.weigh_terms([stem("header")]) == math.log(1 + (5 - documents + 0.5) / (documents + 0.5))


def test_words_weigh_the_same_in_every_order() -> None:
    counts = {"a": 1, "b": 2, "c": 3, "d": 4}
    words = {word: WordCounts(0, 0, texts) for word, texts in counts.items()}
    book = BookWords(Vocabulary(words, 9), (), Analyzer())
    orders = list(permutations(counts))
    assert len({sum(book.weigh_words([word]) for word in order) for order in orders}) > 1
    assert len({book.weigh_words(order) for order in orders}) == 1
    assert len({book.weigh_terms(order) for order in orders}) == 1


def test_a_name_has_the_weights_of_its_words_and_terms() -> None:
    name = BOOK.name("Headers and headers of a stack")
    assert name.word_weight == BOOK.weigh_words({"headers", "and", "of", "a", "stack"})
    assert name.term_weight == BOOK.weigh_terms(name.terms)


def test_has_form_knows_every_form_of_a_word() -> None:
    assert BOOK.has_form("header")
    assert BOOK.has_form("screen")
    assert not BOOK.has_form("zebra")


def test_a_term_in_more_words_than_chunks_weighs_as_if_all_had_it() -> None:
    words = {"header": WordCounts(0, 0, 2), "headers": WordCounts(0, 0, 2)}
    book = BookWords(Vocabulary(words, 2), (), Analyzer())
    assert book.weigh_terms(["header"]) == math.log(1 + 0.5 / 2.5)


def test_contains_the_folded_words_of_texts_and_names() -> None:
    assert "moving" in BOOK
    assert "tabs" in BOOK
    assert "Tabs" not in BOOK
    assert "zebra" not in BOOK


def test_with_prefix_lists_words_in_alphabetical_order() -> None:
    assert BOOK.with_prefix("nav") == ["navigation", "navigators"]
    assert BOOK.with_prefix("x") == []
    assert BOOK.with_prefix("") == sorted(BOOK.vocabulary.words)


@given(st.text(max_size=4))
def test_with_prefix_agrees_with_startswith(prefix: str) -> None:
    expected = sorted(word for word in BOOK.vocabulary.words if word.startswith(prefix))
    assert BOOK.with_prefix(prefix) == expected


def test_name_has_distinct_words_and_their_terms() -> None:
    name = BOOK.name("The useWindow hook, the hooks")
    assert name.words == {"the", "usewindow", "use", "window", "hook", "hooks"}
    assert name.terms == {Analyzer().stem(word) for word in name.words}
    assert name.flat == "the usewindow hook the hooks"


def test_heading_of_a_section_is_the_last_heading_or_the_title() -> None:
    assert [section.heading for section in BOOK.sections] == [
        *("Navigation", "Nesting navigators", "Tabs", "Stack", "Headers")
    ]


@given(st.text(max_size=30))
def test_flatten_is_idempotent_and_has_single_spaces(text: str) -> None:
    flat = flatten(text)
    assert flat == " ".join(flat.split())
    assert flatten(f"  {flat} ") == flatten(flat)


def test_names_are_found_by_all_their_words() -> None:
    names = BOOK.names
    assert {names.section(number).heading for number in names.find(["nesting", "navigators"])} == {
        "Nesting navigators"
    }
    assert names.find(["nesting", "tabs"]) == set()
    assert names.find([]) == set(range(5))
    assert names.with_word("stack") == {3}
    assert names.with_word("screens") == set()


def test_names_are_found_by_the_beginning_of_a_word() -> None:
    assert dict(BOOK.names.with_prefix("nav")) == {"navigation": {0}, "navigators": {1}}
    assert BOOK.names.words == ["headers", "navigation", "navigators", "nesting", "stack", "tabs"]


class ChangingCatalog:
    """A catalog whose vocabulary changes, and which may be down."""

    def __init__(self) -> None:
        self.version = 1
        self.reads = 0
        self.is_down = False

    def vocabulary_version(self) -> int:
        if self.is_down:
            raise CatalogFailure("down")
        return self.version

    def vocabulary(self) -> Vocabulary:
        self.reads += 1
        return Vocabulary({f"word{self.version}": WordCounts(0, 0, 1)}, 1)

    def section_names(self) -> list[SectionName]:
        return [SectionName("a", "https://x.org/a", "", "Nodes", section) for section in ("", "Axes")]

    def pages(self) -> list[PageRecord]:
        return [PageRecord("a", "https://x.org/a", "Nodes", "s", "a.md", "", 1)]


@pytest.fixture
def always_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_words_cache, "CHECK_SECONDS", 0.0)


@pytest.mark.usefixtures("always_check")
def test_words_are_read_again_only_after_the_version_has_changed() -> None:
    catalog = ChangingCatalog()
    cache = BookWordsCache(catalog, "english")  # type: ignore[arg-type]
    first = cache.load()
    assert cache.load() is first
    assert catalog.reads == 1
    catalog.version = 2
    assert "word2" in cache.load()
    assert catalog.reads == 2


@pytest.mark.usefixtures("always_check")
def test_while_the_catalog_is_down_the_last_words_are_used() -> None:
    catalog = ChangingCatalog()
    cache = BookWordsCache(catalog, "english")  # type: ignore[arg-type]
    catalog.is_down = True
    assert cache.load().vocabulary == Vocabulary({}, 0)
    catalog.is_down = False
    assert "word1" in cache.load()
    catalog.is_down = True
    catalog.version = 2
    assert "word1" in cache.load()
    catalog.is_down = False
    assert "word2" in cache.load()


def test_the_catalog_is_not_asked_for_each_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_words_cache, "CHECK_SECONDS", 3600.0)
    catalog = ChangingCatalog()
    cache = BookWordsCache(catalog, "english")  # type: ignore[arg-type]
    cache.load()
    catalog.version = 2
    assert "word1" in cache.load()


def test_words_of_a_large_book_are_read_again_without_keeping_searches_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(book_words_cache, "CHECK_SECONDS", 0.0)
    may_read = threading.Event()
    may_read.set()

    class SlowCatalog(ChangingCatalog):
        def vocabulary(self) -> Vocabulary:
            assert may_read.wait(10)
            return super().vocabulary()

    catalog = SlowCatalog()
    cache = BookWordsCache(catalog, "english")  # type: ignore[arg-type]
    assert "word1" in cache.load()
    may_read.clear()
    monkeypatch.setattr(book_words_cache, "MAX_WAIT_SECONDS", 0.01)
    catalog.version = 2
    assert "word1" in cache.load()
    assert "word1" in cache.load()
    may_read.set()
    deadline = time.monotonic() + 10
    while "word2" not in cache.load():
        assert time.monotonic() < deadline
    assert catalog.reads == 2


def test_large_book_is_known_by_its_pages_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = ChangingCatalog()
    everything = BookWordsCache(catalog, "english").load()  # type: ignore[arg-type]
    assert [name.section for name in everything.sections] == ["", "Axes"]
    monkeypatch.setattr(book_words_cache, "MAX_CHUNKS_WITH_SECTIONS", 0)
    pages_alone = BookWordsCache(catalog, "english").load()  # type: ignore[arg-type]
    assert [(name.title, name.section) for name in pages_alone.sections] == [("Nodes", "")]


def test_a_silent_catalog_holds_up_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_words_cache, "CHECK_SECONDS", 0.0)
    answers = threading.Event()
    answers.set()

    class SilentCatalog(ChangingCatalog):
        def vocabulary_version(self) -> int:
            answers.wait()
            return super().vocabulary_version()

    catalog = SilentCatalog()
    cache = BookWordsCache(catalog, "english")  # type: ignore[arg-type]
    words = cache.load()
    answers.clear()
    monkeypatch.setattr(book_words_cache, "MAX_WAIT_SECONDS", 0.01)
    assert cache.load() is words
    catalog.version += 1
    assert cache.load() is words
    answers.set()
    monkeypatch.setattr(book_words_cache, "MAX_WAIT_SECONDS", 60.0)
    assert cache.load() is not words
