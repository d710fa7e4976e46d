from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.site.page_filter import PageFilter
from pertinent.sources.site.versions_and_locales import Editions, Translation

HOST = "https://book.example"


def kept(*paths: str, scope: str = "", **filters: tuple[str, ...]) -> list[str]:
    editions = Editions(scope, PageFilter(**filters))
    urls = [HOST + path for path in paths]
    editions.learn_from_sitemap(urls, {})
    return [url.removeprefix(HOST) for url in urls if not editions.is_unwanted(url)]


VERSIONED = (
    "/docs/a", "/docs/b", "/docs/next/a", "/docs/next/b", "/docs/next/new", "/docs/1.x/a", "/docs/1.x",
)  # fmt: skip


def test_unnamed_version_is_preferred() -> None:
    assert kept(*VERSIONED) == ["/docs/a", "/docs/b"]


def test_requested_versions_are_included() -> None:
    assert kept(*VERSIONED, versions=("next",)) == list(VERSIONED[:5])
    assert kept(*VERSIONED, versions=("1.X",)) == [*VERSIONED[:2], *VERSIONED[5:]]
    assert kept(*VERSIONED, versions=("all",)) == list(VERSIONED)


def test_start_below_a_version_selects_that_version() -> None:
    below = [path for path in VERSIONED if path.startswith("/docs/next")]
    assert kept(*below, scope="/docs/next") == below


def test_stable_version_is_preferred_over_others() -> None:
    assert kept("/en/latest/a", "/en/stable/a", "/en/1.0/a") == ["/en/stable/a"]
    assert kept("/en/latest/a", "/en/v1.0/a") == ["/en/latest/a"]
    assert kept("/v1.9/a", "/v1.10/a", "/dev/a") == ["/v1.10/a"]


@pytest.mark.parametrize(
    "paths",
    [
        ("/book/1", "/book/2", "/book"),
        ("/book/1/intro", "/book/1/end", "/book/2/intro", "/book/2/end"),
        ("/blog/2023/a", "/blog/2024/b"),
        ("/docs/dev/setup", "/docs/dev/test", "/docs/dev/release", "/docs/setup"),
        (
            "/docs/it/hardware",
            "/docs/it/software",
            "/docs/go/intro",
            "/docs/intro",
            "/docs/go/x",
            "/docs/go/y",
        ),
        ("/docs/js/a", "/docs/js/b", "/docs/ts/a", "/docs/ts/b", "/docs/en/a", "/docs/a", "/docs/b"),
    ],
)
def test_chapters_years_and_words_are_not_versions(paths: tuple[str, ...]) -> None:
    assert kept(*paths) == list(paths)


def test_translations_are_recognised_by_hreflang() -> None:
    editions = Editions("", PageFilter())
    english, french = f"{HOST}/hello", f"{HOST}/bonjour"
    editions.learn_from_sitemap([english, french], {french: Translation("fr", english)})
    assert not editions.is_unwanted(english)
    assert editions.is_unwanted(french)


def test_one_shared_page_does_not_make_versions() -> None:
    editions = Editions("", PageFilter())
    urls = [
        f"{HOST}/releases/{number}/{name}" for number in ("1.0", "2.0") for name in ("changes", f"x{number}")
    ]
    for url in urls:
        editions.learn_from_answer(url)
    editions.decide_versions()
    assert not any(map(editions.is_unwanted, urls))


def learn(editions: Editions, path: str, version: str = "", language: str = "en") -> None:
    """Learn from a linked page, as a crawl does."""
    editions.learn_from_page(HOST + path, language=language, version=version)
    editions.learn_from_answer(HOST + path)


def test_editions_are_learnt_from_pages() -> None:
    editions = Editions("", PageFilter())
    editions.language = "en"
    learn(editions, "/docs/a", "2.0")
    assert not editions.is_unwanted(f"{HOST}/docs/beta/b")
    learn(editions, "/docs/beta/a", "beta")
    assert editions.is_unwanted(f"{HOST}/docs/beta/a")
    assert editions.is_unwanted(f"{HOST}/docs/beta/b")
    learn(editions, "/docs/beta-notes", "2.0")
    assert not editions.is_unwanted(f"{HOST}/docs/beta-notes")
    learn(editions, "/fr/x", language="fr-FR")
    assert editions.is_unwanted(f"{HOST}/fr/x")
    assert editions.is_unwanted(f"{HOST}/fr/y")
    learn(editions, "/words/fr/x")
    assert not editions.is_unwanted(f"{HOST}/words/fr/x")


def test_declared_version_counts_once_its_twin_declares_another() -> None:
    editions = Editions("", PageFilter())
    page = f"{HOST}/docs/blue/a"
    learn(editions, "/docs/blue/a", "blue")
    learn(editions, "/docs/b")
    assert not editions.is_unwanted(page)
    assert editions.may_be_version(page, "blue")
    learn(editions, "/docs/a", "2.0")
    assert editions.is_unwanted(page)
    assert editions.is_unwanted(f"{HOST}/docs/blue/b")
    assert not editions.is_unwanted(f"{HOST}/docs/a")


def test_folder_named_like_the_version_is_not_another_version() -> None:
    for paths in permutations(("/docs/2.0/news", "/docs/2.0/news/2.0", "/docs/2.0/news/2.0/a")):
        editions = Editions("", PageFilter())
        for path in paths:
            learn(editions, path, "2.0")
        assert not any(editions.is_unwanted(HOST + path) for path in paths)


def test_answer_without_a_version_does_not_hide_a_version_that_pages_declare() -> None:
    editions = Editions("", PageFilter())
    pages = [f"/docs/2.0/{name}" for name in "abc"]
    for path in pages:
        learn(editions, path, "2.0")
    learn(editions, "/docs/a")
    editions.decide_versions()
    assert not any(editions.is_unwanted(HOST + path) for path in pages)


def test_editions_are_learnt_from_links() -> None:
    editions = Editions("", PageFilter())
    for path in ("/docs/a", "/docs/next/a"):
        editions.learn_from_answer(HOST + path)
    assert not editions.is_unwanted(f"{HOST}/docs/next/other")
    editions.decide_versions()
    assert editions.is_unwanted(f"{HOST}/docs/next/other")
    assert not editions.is_unwanted(f"{HOST}/docs/a")


@given(st.permutations([f"/{version}{name}" for version in ("", "next/", "1.0/") for name in "abc"]))
def test_linked_editions_are_decided_before_all_pages_are_known(paths: list[str]) -> None:
    editions = Editions("", PageFilter())
    for path in paths:
        editions.learn_from_answer(HOST + path)
    assert [path for path in sorted(paths) if not editions.is_unwanted(HOST + path)] == ["/a", "/b", "/c"]


SIDE_BY_SIDE = [f"/{version}/{name}" for version in ("stable", "2.0", "1.0") for name in "abcd"]


@given(st.permutations(SIDE_BY_SIDE))
def test_preferred_edition_does_not_depend_on_the_order_of_links(paths: list[str]) -> None:
    editions = Editions("", PageFilter())
    for path in paths:
        editions.learn_from_answer(HOST + path)
    editions.decide_versions()
    assert [path for path in SIDE_BY_SIDE if not editions.is_unwanted(HOST + path)] == SIDE_BY_SIDE[:4]


@pytest.mark.parametrize(
    "paths",
    [
        ("/book/summary", *(f"/book/{n}/{name}" for n in (1, 2) for name in ("summary", "text", "end"))),
        ("/blog/archive", *(f"/blog/{n}/{name}" for n in (2023, 2024) for name in ("a", "b", "archive"))),
    ],
)
def test_linked_chapters_and_years_are_not_versions(paths: tuple[str, ...]) -> None:
    editions = Editions("", PageFilter())
    for path in paths:
        editions.learn_from_answer(HOST + path)
    editions.decide_versions()
    assert not any(editions.is_unwanted(HOST + path) for path in paths)
