"""Correction and completion of words that the book does not have, and quoted phrases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.embedders.local import is_whole_word
from pertinent.search import spelling
from pertinent.search.spelling import SearchText, find_near_words, read_query

from .books import make_book

BOOK = make_book(
    ("Navigation", ["Nesting navigators"], "Moving between screens of an app. Call useNavigation there."),
    ("Getting started", ["Installation"], "Install the packages and start the app."),
    ("Configuration", ["Plugin configuration"], "The config of a plugin. A container for configs."),
    ("検索", ["設定"], "全文検索の設定。"),
)


def is_no_word(_word: str) -> bool:
    return False


def read(
    query: str, is_word: Callable[[str], bool] = is_no_word, *, correct: bool = True, book: object = BOOK
) -> SearchText:
    return read_query(query, book, is_word, correct=correct)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("typed", "searched"),
    [
        ("navi", "navigation"),
        ("nesting nav", "nesting navigators"),
        ("getting st", "getting started"),
        ("inst", "installation"),
        ("Moving betw", "Moving between"),
        ("plugin conf", "plugin configuration"),
    ],
)
def test_the_last_word_is_completed_to_a_name_first(typed: str, searched: str) -> None:
    assert read(typed) == SearchText(searched, (), corrected=True)


def test_a_name_that_begins_with_the_query_completes_it_before_other_names() -> None:
    book = make_book(("Quick start", [], ""), ("TypeScript quick guide", ["Script quick check"], ""))
    assert read("quick s", book=book).text == "quick start"


def test_a_known_word_is_not_completed_to_another_form_of_it() -> None:
    assert not read("getting start").corrected
    assert read("getting sta").text == "getting started"


def test_an_identifier_is_corrected_to_its_spelling_in_names() -> None:
    book = make_book(("Hooks", ["useBaseUrl", "use_site_data"], "Call usebaseurl."))
    assert read("useBasUrl", book=book).text == "useBaseUrl"
    assert read("use_site_dat", book=book).text == "use_site_data"


def test_a_word_is_not_completed_to_a_word_that_was_typed_already() -> None:
    book = make_book(("Store", ["Store methods"], "A store."), ("Store setup", [], "How to."))
    assert read("store s", book=book).text == "store setup"
    assert read("store setup s", book=book).text == "store setup s"


@pytest.mark.parametrize("typed", ["navi ", "navi?", "navi screens"])
def test_only_a_last_word_that_may_be_unfinished_is_completed(typed: str) -> None:
    assert not read(typed).corrected


def test_one_letter_is_completed_only_to_a_name() -> None:
    assert read("getting s").text == "getting started"
    assert read("screens b").text == "screens b"


@pytest.mark.parametrize(
    ("typed", "searched"),
    [
        ("navigatoin ", "navigation "),
        ("navgation ", "navigation "),
        ("navigaation ", "navigation "),
        ("navitation ", "navigation "),
        ("anvigaiton ", "navigation "),
        ("usenavigaton ", "usenavigation "),
        ("screns of the app", "screens of the app"),
        ("Packges?", "packages?"),
        ("containr?", "container?"),
    ],
)
def test_unknown_words_are_corrected_by_one_edit_or_two(typed: str, searched: str) -> None:
    assert read(typed).text == searched
    assert read(typed).corrected == (typed != searched)


def test_a_word_with_another_first_letter_is_another_word() -> None:
    book = make_book(("Jumping", ["Caught errors"], ""))
    assert not read("bumping", book=book).corrected
    assert not read("uncaught", book=book).corrected
    assert read("ujmping", book=book).text == "jumping"


def test_two_edits_need_eight_letters() -> None:
    assert read("scrnse ").text == "scrnse "
    assert read("sceens ").text == "screens "
    assert read("nvigtion ").text == "navigation "


def test_words_of_titles_come_before_words_of_headings_before_others() -> None:
    book = make_book(("Stack", ["Stick"], "stock stock"), ("Other", [], "stock"), ("More", [], "stock"))
    assert read("stuck ", book=book).text == "stack "
    book = make_book(("Title", ["Stick"], "stock"), ("Other", [], "stock"))
    assert read("stuck ", book=book).text == "stick "
    book = make_book(("Title", [], "stock stick"), ("Other", [], "stock"))
    assert read("stuck ", book=book).text == "stock "


def test_fewer_edits_come_before_words_of_titles() -> None:
    book = make_book(("Containers", [], "container"))
    assert read("contaimer ", book=book).text == "container "


def test_real_words_are_left_alone() -> None:
    assert read("move quantum taxes", is_whole_word).text == "move quantum taxes"
    assert read("stars navigatoin ", is_whole_word).text == "stars navigation "


@pytest.mark.parametrize("typed", ["plugins?", "installs?", "apps "])
def test_other_forms_of_known_words_are_left_alone(typed: str) -> None:
    assert read(typed) == SearchText(typed)


@pytest.mark.parametrize("typed", ["ap ", "plu ", "cfg ", "12345 ", "2026"])
def test_short_words_and_numbers_are_left_alone(typed: str) -> None:
    assert read(typed) == SearchText(typed)


@pytest.mark.parametrize(
    "typed", ["2.0.1", "python 3.14", "0.25 ", "http2 ", "utf8", "it can't", "the app’s"]
)
def test_versions_and_what_follows_an_apostrophe_are_left_alone(typed: str) -> None:
    book = make_book(("Https", ["Sockets", "The utf16 tables"], "Python 3.1 and 2.0.0, 0.5 or 1.0. It can."))
    assert read(typed, book=book) == SearchText(typed)


@pytest.mark.parametrize("typed", ['"navigatoin"', '"navigatoin" "scren"', "“navigatoin scren”"])
def test_quoted_words_are_untouched(typed: str) -> None:
    assert not read(typed).corrected


def test_quoted_phrases_are_taken_out_and_the_other_words_corrected() -> None:
    query = read('"of an App" “the  packages” navigatoin ')
    assert query == SearchText("of an App the  packages navigation ", ("of an App", "the  packages"), True)


@pytest.mark.parametrize(
    ("typed", "text"),
    [('""', '""'), ('" "', '" "'), ('" " navigation', "  navigation"), ('a "lone quote', 'a "lone quote')],
)
def test_empty_quotes_and_lone_quotes_are_no_phrases(typed: str, text: str) -> None:
    query = read(typed, correct=False)
    assert query == SearchText(text)


def test_correct_false_keeps_every_word_and_still_takes_phrases() -> None:
    assert read("navigatoin scren", correct=False) == SearchText("navigatoin scren")
    assert read('"of an app" navigatoin', correct=False) == SearchText("of an app navigatoin", ("of an app",))


@pytest.mark.parametrize("phrase", ["全文検索", "検索", "검색"])
def test_quoted_cjk_text_without_spaces_is_a_phrase(phrase: str) -> None:
    assert read(f'"{phrase}" 設定') == SearchText(f"{phrase} 設定", (phrase,))


def test_quoted_cjk_punctuation_is_no_phrase() -> None:
    assert read('"・" 設定') == SearchText("・ 設定")


@pytest.mark.parametrize("typed", ["検策", "全文険索の設定", "検索API", "検"])
def test_cjk_words_are_left_alone(typed: str) -> None:
    assert read(typed) == SearchText(typed)


def test_an_empty_vocabulary_corrects_nothing() -> None:
    assert read('navigatoin "scren"', book=make_book()) == SearchText("navigatoin scren")


def test_the_last_word_is_completed_with_the_corrected_words_before_it() -> None:
    assert read("nestign nav").text == "nesting navigators"


def test_a_corrected_last_word_is_completed_as_if_it_had_been_typed() -> None:
    assert read("plugin confg").text == "plugin configuration"


def test_query_of_many_unknown_words_is_not_corrected() -> None:
    typos = ["navigatoin", *(f"unknown{letter}" for letter in "abcdefghi")]
    assert read(" ".join([*typos, "app"])).text.startswith("navigation ")
    text = " ".join([*typos, "unknownj", "app"])
    assert read(text) == SearchText(text)


def test_a_repeated_word_is_corrected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def compare(word: str, choices: Sequence[str]) -> list[tuple[str, int]]:
        compared.append(word)
        return find_near_words(word, choices)

    monkeypatch.setattr(spelling, "find_near_words", compare)
    assert read("navigatoin " * 100 + "app").text == "navigation " * 100 + "app"
    assert compared == ["navigatoin"]


LETTERS = st.text("abgiknorstv", min_size=1, max_size=9)
KNOWN = st.sampled_from(sorted(word for word in BOOK.vocabulary.words if word.isascii()))
TYPED = st.lists(KNOWN | LETTERS | KNOWN.map(lambda word: word[:-2] or word), min_size=1, max_size=4)


@given(TYPED, st.sampled_from(["", " ", "?"]))
def test_correcting_a_corrected_text_changes_nothing(typed: list[str], end: str) -> None:
    corrected = read(" ".join(typed) + end)
    assert read(corrected.text) == SearchText(corrected.text)


@given(TYPED, st.booleans())
def test_known_words_are_kept_unless_a_name_completes_the_last_one(typed: list[str], real: bool) -> None:
    searched = read(" ".join(typed), lambda _word: real).text.split(" ")
    assert len(searched) == len(typed)
    for before, after in list(zip(typed, searched, strict=True))[:-1]:
        assert after == before or (before not in BOOK and not real and after in BOOK)
    assert searched[-1] == typed[-1] or searched[-1] in BOOK


@given(st.text(max_size=60), st.booleans())
def test_any_text_is_read(text: str, correct: bool) -> None:
    query = read(text, correct=correct)
    assert not query.corrected or correct
    assert '"' not in "".join(query.phrases)
    if not query.corrected and '"' not in text and "“" not in text:
        assert query.text == text
