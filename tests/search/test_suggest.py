"""Suggestions: pages and headings whose name fits what has been typed so far, best first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from pertinent.search.book_words import BookWords, flatten
from pertinent.search.suggest import suggest
from pertinent.search.terms import Analyzer
from pertinent.types import SectionName, Suggestion, Vocabulary

SITE = "https://book.example/docs"


def make_book(*names: SectionName) -> BookWords:
    return BookWords(Vocabulary({}, 0), names, Analyzer())


def page(title: str) -> SectionName:
    slug = title.lower().replace(" ", "-")
    return SectionName(slug, f"{SITE}/{slug}", "", title, "")


def section(title: str, path: str) -> SectionName:
    anchor = path.rpartition(" › ")[2].lower().replace(" ", "-")
    return page(title)._replace(section=path, anchor=anchor)


BOOK = make_book(
    page("Robot navigation"),
    section("Robot navigation", "Costmaps"),
    section("Robot navigation", "Costmaps › Inflation radius"),
    page("Joints"),
    section("Joints", "Limits"),
    section("Joints", "Navigation of joints"),
    page("Navigation stack"),
    page("useWindowDimensions"),
    page("docusaurus.config.js"),
    page("搜索设定"),
    page("C++ and C#"),
)


def find(text: str, limit: int = 8, book: BookWords = BOOK) -> list[str]:
    return [suggestion.breadcrumb for suggestion in suggest(text, book, limit)]


def test_heading_without_text_is_suggested_with_the_address_of_its_first_sub_section() -> None:
    book = make_book(
        page("Store"),
        section("Store", "Store methods › Reading › getState"),
        section("Store", "Store methods › dispatch"),
        section("Store", "Reading"),
    )
    [suggestion] = suggest("store meth", book, 8)
    assert (suggestion.section, suggestion.url) == ("Store methods", f"{SITE}/store#getstate")
    assert find("reading", book=book) == ["Store › Store methods › Reading", "Store › Reading"]


def test_suggestion_has_breadcrumb_and_address_with_anchor() -> None:
    assert suggest("inflation", BOOK, 8) == [
        Suggestion(
            title="Robot navigation",
            section="Costmaps › Inflation radius",
            url=f"{SITE}/robot-navigation#inflation-radius",
            document_id="robot-navigation",
            is_page=False,
        )
    ]
    (joints,) = suggest("Joints", BOOK, 1)
    assert (joints.url, joints.section, joints.is_page) == (f"{SITE}/joints", "", True)
    assert find("inflation") == ["Robot navigation › Costmaps › Inflation radius"]


def test_names_that_begin_with_the_text_come_before_names_that_contain_it() -> None:
    assert find("navigation") == ["Navigation stack", "Joints › Navigation of joints", "Robot navigation"]


def test_pages_come_before_sections_at_equal_fit() -> None:
    book = make_book(page("Topics in depth"), section("Topics in depth", "Topics"), page("Nodes"))
    assert find("topics", book=book) == ["Topics in depth", "Topics in depth › Topics"]


def test_shorter_names_come_first_at_equal_fit() -> None:
    book = make_book(page("Nodes and executors"), page("Nodes"), page("Nodes of a graph"))
    assert find("node", book=book) == ["Nodes", "Nodes of a graph", "Nodes and executors"]


@pytest.mark.parametrize(
    "text", ["n", "na", "navigat", "navigation s", "NAVIGATION  st", " navigation-stack "]
)
def test_prefix_of_a_name_finds_it(text: str) -> None:
    assert "Navigation stack" in find(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stack", "Navigation stack"),
        ("stack nav", "Navigation stack"),
        ("window dim", "useWindowDimensions"),
        ("usewin", "useWindowDimensions"),
        ("config", "docusaurus.config.js"),
        ("docusaurus.con", "docusaurus.config.js"),
        ("设", "搜索设定"),
        ("索设定", "搜索设定"),
    ],
)
def test_inner_words_find_a_name(text: str, expected: str) -> None:
    assert find(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("joinst", "Joints"),
        ("jonits", "Joints"),
        ("navagation stakc", "Navigation stack"),
        ("costmpa", "Robot navigation › Costmaps"),
        ("navvig", "Navigation stack"),
        ("nvaig", "Navigation stack"),
        ("naviggatin", "Navigation stack"),
    ],
)
def test_typos_find_a_name_also_while_it_is_typed(text: str, expected: str) -> None:
    assert expected in find(text)[:2]


def test_fewer_typos_come_first() -> None:
    book = make_book(page("Persistences"), page("Persistence layers and how they are stored"))
    assert find("persistancel", book=book)[0] == "Persistences"
    assert find("persistnce", book=book)[0] == "Persistences"
    book = make_book(page("Container"), page("Retainers and containment of other things"))
    assert find("contaimer", book=book)[0] == "Container"


def test_typos_are_tried_only_if_no_name_fits() -> None:
    book = make_book(page("Nodes"), page("Codes"), page("Modes"))
    assert find("node", book=book) == ["Nodes"]
    assert set(find("pode", book=book)) == {"Nodes", "Codes", "Modes"}


@pytest.mark.parametrize("text", ["", " ", "…!?", "zzzzzz", "navigation zzzzzz", "joints limits of"])
def test_text_that_fits_no_name_gives_nothing(text: str) -> None:
    assert find(text) == []


def test_text_of_many_unknown_words_gives_nothing() -> None:
    typos = [f"navi{letter}ation" for letter in "abcdefhijkl"]
    assert find(" ".join([*typos[:10], "rob"])) == ["Robot navigation"]
    assert find(" ".join([*typos, "rob"])) == []


def test_book_without_names_gives_nothing() -> None:
    assert find("joints", book=make_book()) == []


def test_page_without_a_title_is_named_by_its_address() -> None:
    assert Suggestion("", "Limits", f"{SITE}/joints#limits", "joints", is_page=False).breadcrumb == (
        f"{SITE}/joints#limits › Limits"
    )


def test_limit_cuts_the_list_and_keeps_its_order() -> None:
    everything = find("n")
    assert len(everything) >= 3
    assert all(find("n", limit) == everything[:limit] for limit in range(1, len(everything)))


HEADINGS = st.text(alphabet="abcde AB_.设定", min_size=1, max_size=14)
BOOKS = st.lists(st.tuples(HEADINGS, st.booleans()), max_size=12).map(
    lambda rows: make_book(
        *(
            SectionName(f"d{number}", f"{SITE}/{number}", "", heading, "")
            if is_page
            else SectionName(f"d{number}", f"{SITE}/{number}", "a", "Title", heading)
            for number, (heading, is_page) in enumerate(rows)
        )
    )
)


@given(BOOKS, st.text(alphabet="abcde AB_.设定é", max_size=14), st.integers(1, 12))
def test_suggestions_are_distinct_sections_of_the_book_within_the_limit(
    book: BookWords, text: str, limit: int
) -> None:
    suggestions = suggest(text, book, limit)
    assert len(suggestions) == len(set(suggestions)) <= limit
    ids = {row.document_id for row in book.sections}
    assert all(suggestion.document_id in ids for suggestion in suggestions)
    assert suggestions == suggest(text, book, limit)
    assert suggestions[: limit - 1] == suggest(text, book, max(limit - 1, 1))[: limit - 1]


@given(BOOKS, st.data())
def test_every_beginning_of_a_name_finds_it(book: BookWords, data: st.DataObject) -> None:
    named = [row for row in book.sections if flatten(row.heading)]
    if not named:
        return
    row = data.draw(st.sampled_from(named))
    name = row.heading
    cut = data.draw(st.integers(1, len(name)))
    if flatten(name[:cut]):
        found = {suggestion.document_id for suggestion in suggest(name[:cut], book, len(book.sections))}
        assert row.document_id in found


@given(BOOKS, st.text(alphabet="abcde ", min_size=1, max_size=8))
def test_order_is_beginnings_before_words_and_pages_before_sections(book: BookWords, text: str) -> None:
    by_id = {row.document_id: row for row in book.sections}
    typed = flatten(text)
    fits = [
        (not flatten(by_id[suggestion.document_id].heading).startswith(typed), not suggestion.is_page)
        for suggestion in suggest(text, book, len(book.sections) + 1)
    ]
    if any(not fit[0] for fit in fits):
        assert fits == sorted(fits)


@given(st.text(alphabet="abcdefgh", min_size=5, max_size=12), st.data())
def test_one_swap_of_letters_finds_the_name(word: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(word) - 2))
    typed = word[:position] + word[position + 1] + word[position] + word[position + 2 :]
    assert OSA.distance(typed, word) <= 1
    assert find(typed, book=make_book(page(word))) == [word]
