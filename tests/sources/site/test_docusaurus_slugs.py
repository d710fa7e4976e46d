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
    assert DocusaurusSlugs("").slug(path, DocusaurusId("default", "current", name)) == slug


def test_deferred_slug_uses_the_base_path_of_other_docs() -> None:
    slugs = DocusaurusSlugs("")
    assert slugs.slug("/book/docs/short", DocusaurusId("default", "current", "long/name")) is None
    assert slugs.slug("/book/docs/a", DocusaurusId("default", "current", "a")) == "a"
    assert slugs.deferred_slug("/book/docs/short", DocusaurusId("default", "current", "long/name")) == "short"
    assert slugs.deferred_slug("/book/docs", DocusaurusId("default", "current", "long/intro")) == "intro"
    assert slugs.deferred_slug("/book/docs/short", DocusaurusId("other", "current", "x")) == "book-docs-short"


def test_slug_of_other_pages_is_relative_to_the_scope() -> None:
    assert DocusaurusSlugs("/docs").slug("/docs/caf\u00e9/au-lait", None) == "cafe-au-lait"
    assert DocusaurusSlugs("/docs").slug("/docs", None) == "docs"
