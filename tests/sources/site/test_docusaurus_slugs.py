from __future__ import annotations

import pytest

from pertinent.sources.site.docusaurus_slugs import DocusaurusId, DocusaurusSlugs, parse_docusaurus_id

from .server import doc


def test_a_page_of_docusaurus_says_which_it_is() -> None:
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
def test_the_route_of_a_page_is_what_its_id_ends_in(path: str, name: str, slug: str) -> None:
    assert DocusaurusSlugs("").slug(path, DocusaurusId("default", "current", name)) == slug


def test_a_page_with_a_slug_of_its_own_learns_its_docs_from_the_others() -> None:
    slugs = DocusaurusSlugs("")
    assert slugs.slug("/book/docs/short", DocusaurusId("default", "current", "long/name")) is None
    assert slugs.slug("/book/docs/a", DocusaurusId("default", "current", "a")) == "a"
    assert slugs.deferred_slug("/book/docs/short", DocusaurusId("default", "current", "long/name")) == "short"
    assert slugs.deferred_slug("/book/docs", DocusaurusId("default", "current", "long/intro")) == "intro"
    assert slugs.deferred_slug("/book/docs/short", DocusaurusId("other", "current", "x")) == "book-docs-short"


def test_a_plain_page_has_its_slug_below_the_start() -> None:
    assert DocusaurusSlugs("/docs").slug("/docs/caf\u00e9/au-lait", None) == "cafe-au-lait"
    assert DocusaurusSlugs("/docs").slug("/docs", None) == "docs"
