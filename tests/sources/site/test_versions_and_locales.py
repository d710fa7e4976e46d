from __future__ import annotations

import pytest

from pertinent.sources.site.docusaurus_slugs import Doc, Routes, doc_of
from pertinent.sources.site.limits import Choice
from pertinent.sources.site.versions_and_locales import Variants

from .server import doc

HOST = "https://book.example"


def kept(*paths: str, scope: str = "", **choice: tuple[str, ...]) -> list[str]:
    variants = Variants(scope, Choice(**choice))
    urls = [HOST + path for path in paths]
    variants.survey(urls, {})
    return [url.removeprefix(HOST) for url in urls if not variants.unwanted(url)]


VERSIONED = (
    "/docs/a",
    "/docs/b",
    "/docs/next/a",
    "/docs/next/b",
    "/docs/next/new",
    "/docs/1.x/a",
    "/docs/1.x",
)


def test_of_versions_the_one_without_a_name_is_kept() -> None:
    assert kept(*VERSIONED) == ["/docs/a", "/docs/b"]


def test_other_versions_come_when_they_are_asked_for() -> None:
    assert kept(*VERSIONED, versions=("next",)) == list(VERSIONED[:5])
    assert kept(*VERSIONED, versions=("1.X",)) == [*VERSIONED[:2], *VERSIONED[5:]]
    assert kept(*VERSIONED, versions=("all",)) == list(VERSIONED)


def test_a_start_below_a_version_means_that_version() -> None:
    below = [path for path in VERSIONED if path.startswith("/docs/next")]
    assert kept(*below, scope="/docs/next") == below


def test_without_a_nameless_version_readers_land_on_the_stable_one() -> None:
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
def test_chapters_years_and_words_are_no_versions(paths: tuple[str, ...]) -> None:
    assert kept(*paths) == list(paths)


def test_translations_that_a_sitemap_names_are_told_without_a_name_in_the_path() -> None:
    variants = Variants("", Choice())
    english, french = f"{HOST}/hello", f"{HOST}/bonjour"
    both = {"x-default": english, "en": english, "fr": french}
    variants.survey([english, french], {english: both, french: both})
    assert not variants.unwanted(english)
    assert variants.unwanted(french)


def test_two_folders_with_one_page_of_the_same_name_are_no_versions() -> None:
    variants = Variants("", Choice())
    urls = [
        f"{HOST}/releases/{number}/{name}" for number in ("1.0", "2.0") for name in ("changes", f"x{number}")
    ]
    for url in urls:
        variants.meet(url)
    assert not any(map(variants.unwanted, urls))


def test_a_page_tells_its_own_version_and_language() -> None:
    variants = Variants("", Choice())
    variants.language = "en"
    for path in ("/docs/a", "/docs/beta/a", "/docs/beta/b", "/docs/beta-notes"):
        variants.meet(HOST + path)
    assert not variants.unwanted(f"{HOST}/docs/beta/b")
    assert variants.told(f"{HOST}/docs/beta/a", language="en", version="beta")
    assert variants.unwanted(f"{HOST}/docs/beta/b")
    assert not variants.told(f"{HOST}/docs/beta-notes", language="en", version="current")
    assert variants.told(f"{HOST}/fr/x", language="fr-FR", version="")
    assert variants.unwanted(f"{HOST}/fr/y")
    assert not variants.told(f"{HOST}/words/fr/x", language="en", version="")


def test_links_tell_versions_as_they_are_found() -> None:
    variants = Variants("", Choice())
    for path in ("/docs/a", "/docs/next/a"):
        variants.meet(HOST + path)
    assert variants.unwanted(f"{HOST}/docs/next/other")
    assert not variants.unwanted(f"{HOST}/docs/a")


def test_a_page_of_docusaurus_says_which_it_is() -> None:
    assert doc_of(doc("ros2/nodes", "Nodes", version="1.x").encode()) == Doc("default", "1.x", "ros2/nodes")
    assert doc_of(b"<html class=plain><body class='docs-doc-id-x'>") is None
    assert doc_of(b"") is None


@pytest.mark.parametrize(
    ("path", "name", "slug"),
    [
        ("/docs/ros2/nodes", "ros2/nodes", "ros2-nodes"),
        ("/docs/ros2", "ros2/index", "ros2"),
        ("/docs/ros2", "ros2/ros2", "ros2"),
        ("/nodes", "nodes", "nodes"),
    ],
)
def test_the_route_of_a_page_is_what_its_id_ends_in(path: str, name: str, slug: str) -> None:
    assert Routes("").slug(path, Doc("default", "current", name)) == slug


def test_a_page_with_a_slug_of_its_own_learns_its_docs_from_the_others() -> None:
    routes = Routes("")
    assert routes.slug("/book/docs/short", Doc("default", "current", "long/name")) is None
    assert routes.slug("/book/docs/a", Doc("default", "current", "a")) == "a"
    assert routes.late_slug("/book/docs/short", Doc("default", "current", "long/name")) == "short"
    assert routes.late_slug("/book/docs", Doc("default", "current", "long/intro")) == "intro"
    assert routes.late_slug("/book/docs/short", Doc("other", "current", "x")) == "book-docs-short"


def test_a_plain_page_has_its_slug_below_the_start() -> None:
    assert Routes("/docs").slug("/docs/caf\u00e9/au-lait", None) == "cafe-au-lait"
    assert Routes("/docs").slug("/docs", None) == "docs"
