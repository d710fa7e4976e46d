"""Where Docusaurus 3 puts a page; every expected value was read off a build with version 3.10.2."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest

from pertinent.sources.markdown.docusaurus_routes import (
    is_page,
    join_url,
    page_title,
    route_page,
    strip_number_prefix,
)
from pertinent.sources.markdown.yaml_front_matter import FrontMatterError


@pytest.mark.parametrize(
    ("name", "stripped"),
    [
        ("01-intro", "intro"),
        ("1.intro", "intro"),
        ("03_third", "third"),
        ("9--double", "double"),
        ("10 - spaced name", "spaced name"),
        ("8-", "8-"),
        ("intro-01", "intro-01"),
        ("2021-11-01-date", "2021-11-01-date"),
        ("7.0-version", "7.0-version"),
        ("1-2-3", "1-2-3"),
        ("5", "5"),
    ],
)
def test_strip_number_prefix_keeps_dates_and_versions(name: str, stripped: str) -> None:
    assert strip_number_prefix(name) == stripped


@pytest.mark.parametrize(
    ("path", "fields", "route"),
    [
        ("intro.md", {}, "/intro"),
        ("intro.md", {"slug": "/"}, "/"),
        ("index.md", {}, "/"),
        ("01-first/02-second/03_third.md", {}, "/first/second/third"),
        ("01-first/index.md", {}, "/first/"),
        ("01-first/2021-11-01-date.md", {}, "/first/2021-11-01-date"),
        ("02-guide/README.md", {}, "/guide/"),
        ("tools/tools.mdx", {}, "/tools/"),
        ("tools/sub/SUB.md", {}, "/tools/sub/"),
        ("03-api/api.md", {}, "/api/api"),
        ("03-api/03-api.md", {}, "/api/"),
        ("tools/Index.mdx", {"slug": "./other-index"}, "/tools/other-index"),
        ("tools/with-id.md", {"id": "05-custom"}, "/tools/05-custom"),
        ("tools/index-id.md", {"id": "index"}, "/tools/index"),
        ("tools/index.md", {"id": "other"}, "/tools/"),
        ("tools/a.md", {"slug": "relative/deep"}, "/tools/relative/deep"),
        ("tools/a.md", {"slug": "../up-one"}, "/up-one"),
        ("tools/a.md", {"slug": "trailing/"}, "/tools/trailing/"),
        ("tools/a.md", {"slug": "/abs/place"}, "/abs/place"),
        ("tools/a.md", {"slug": "."}, "/tools/"),
        ("tools/a.md", {"slug": 2023}, "/tools/2023"),
        ("05-np/04-noprefix.md", {"parse_number_prefixes": False}, "/05-np/04-noprefix"),
        ("tools/dots.in.name.md", {}, "/tools/dots.in.name"),
        ("tools/UPPER.md", {}, "/tools/UPPER"),
        ("tools/café/日本.md", {}, "/tools/café/日本"),
    ],
)
def test_route_page_follows_path_id_and_slug(path: str, fields: dict[str, Any], route: str) -> None:
    assert route_page(PurePosixPath(path), fields).path == route


def test_route_page_keeps_number_prefixes_if_the_site_does() -> None:
    assert route_page(PurePosixPath("01-a/02-b.md"), {}, number_prefixes=False).path == "/01-a/02-b"


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "a/b"},
        {"id": "a#b"},
        {"slug": "/a?b"},
        {"slug": "/a#b"},
        {"slug": "/a/../b"},
        {"slug": "/a/%2e%2E/b"},
    ],
)
def test_route_page_refuses_what_docusaurus_refuses(fields: dict[str, Any]) -> None:
    with pytest.raises(FrontMatterError):
        route_page(PurePosixPath("x.md"), fields)


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("a.md", True),
        ("a/b.mdx", True),
        ("a/x.test.md", True),
        ("_a.md", False),
        ("_parts/a.md", False),
        ("a/_b/c.mdx", False),
        (".hidden/a.md", False),
        ("__tests__/a.md", False),
        ("a.markdown", False),
        ("a.txt", False),
    ],
)
def test_is_page_excludes_partials_and_hidden_files(path: str, page: bool) -> None:
    assert is_page(PurePosixPath(path)) is page


def test_join_url_encodes_the_path() -> None:
    assert join_url("https://x.example/docs", "/") == "https://x.example/docs"
    assert join_url("https://x.example", "docs") == "https://x.example/docs"
    assert (
        join_url("https://x.example/docs", "/a b/日本") == "https://x.example/docs/a%20b/%E6%97%A5%E6%9C%AC"
    )


def test_page_title_prefers_front_matter_then_heading_then_id() -> None:
    assert page_title({"title": "T"}, "H", "id") == "T"
    assert page_title({"title": 2024}, "H", "id") == "2024"
    assert page_title({}, "H", "id") == "H"
    assert page_title({"title": ""}, None, "id") == "id"
