from __future__ import annotations

import pytest

from pertinent.sources.site.docusaurus_slugs import DocusaurusId, DocusaurusSlugs, parse_docusaurus_id

from .server import doc


def test_parse_docusaurus_id_reads_the_html_class() -> None:
    assert parse_docusaurus_id(doc("ros2/nodes", "Nodes", version="1.x").encode()) == DocusaurusId(
        "default", "1.x", "ros2/nodes"
    )
    assert parse_docusaurus_id(b"<html class=plain><body class='docs-doc-id-x'>") is None
    assert parse_docusaurus_id(b"") is None


@pytest.mark.parametrize(
    ("path", "name", "slug"),
    [
        ("/docs/ros2/nodes", "ros2/nodes", "ros2-nodes"),
        ("/docs/ros2", "ros2/index", "ros2"),
        ("/docs/ros2", "ros2/ros2", "ros2"),
        ("/nodes", "nodes", "nodes"),
    ],
)
def test_slug_comes_from_the_doc_id(path: str, name: str, slug: str) -> None:
    slugs, doc_id = DocusaurusSlugs(""), DocusaurusId("default", "current", name)
    assert slugs.slug(path, doc_id) is None
    assert slugs.deferred_slug(path, doc_id) == slug
    assert slugs.slug(path, doc_id) == slug


def test_slug_that_ends_in_the_doc_id_has_the_base_path_of_other_docs() -> None:
    slugs = DocusaurusSlugs("")
    own_slug = ("/docs/deep/er/abs", DocusaurusId("default", "current", "abs"))
    assert slugs.slug(*own_slug) is None
    for name in "abc":
        slugs.slug(f"/docs/{name}", DocusaurusId("default", "current", name))
    assert slugs.slug("/docs/d", DocusaurusId("default", "current", "d")) == "d"
    assert slugs.deferred_slug(*own_slug) == "deep-er-abs"


def test_slug_of_a_translation_has_the_base_path_of_its_language() -> None:
    slugs = DocusaurusSlugs("")
    for name in "abc":
        slugs.slug(f"/{name}", DocusaurusId("default", "current", name), "en")
    for name in "ab":
        slugs.slug(f"/de/{name}", DocusaurusId("default", "current", name), "de")
    assert slugs.slug("/de/c", DocusaurusId("default", "current", "c"), "de") == "c"


def test_deferred_slug_uses_the_base_path_of_other_docs() -> None:
    slugs = DocusaurusSlugs("")
    assert slugs.slug("/book/docs/short", DocusaurusId("default", "current", "long/name")) is None
    for name in "ab":
        slugs.slug(f"/book/docs/{name}", DocusaurusId("default", "current", name))
    assert slugs.slug("/book/docs/c", DocusaurusId("default", "current", "c")) == "c"
    assert slugs.deferred_slug("/book/docs/short", DocusaurusId("default", "current", "long/name")) == "short"
    assert slugs.deferred_slug("/book/docs", DocusaurusId("default", "current", "long/intro")) == "intro"
    assert slugs.deferred_slug("/book/docs/short", DocusaurusId("other", "current", "x")) == "book-docs-short"


def test_slug_of_other_pages_is_relative_to_the_scope() -> None:
    assert DocusaurusSlugs("/docs").slug("/docs/caf\u00e9/au-lait", None) == "cafe-au-lait"
    assert DocusaurusSlugs("/docs").slug("/docs", None) == "docs"
