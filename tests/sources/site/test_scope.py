from __future__ import annotations

import pytest

from pertinent.errors import InvalidInput
from pertinent.sources.site import CrawlLimits, PageFilter
from pertinent.sources.site.addresses import is_sitemap_address
from pertinent.sources.site.scope import open_scope


@pytest.mark.parametrize(
    ("start", "path", "name"),
    [
        ("https://book.example", "", "https://book.example"),
        ("https://book.example/", "", "https://book.example"),
        ("https://book.example/docs/", "/docs", "https://book.example/docs"),
        ("https://book.example/docs/index.html", "/docs", "https://book.example/docs"),
        ("https://book.example/book/sitemap.xml", "", "https://book.example/book"),
        ("https://book.example/sitemap_index.xml.gz", "", "https://book.example"),
    ],
)
def test_open_scope_derives_path_and_name_from_the_start(start: str, path: str, name: str) -> None:
    scope = open_scope(start)
    assert (scope.path, scope.name, scope.from_sitemap) == (path, name, is_sitemap_address(start))


@pytest.mark.parametrize(
    "start",
    ["https://", "ftp://x.example/", "http://x y/"],
)
def test_open_scope_refuses_invalid_addresses(start: str) -> None:
    with pytest.raises(InvalidInput, match="such as https://"):
        open_scope(start)


def test_open_scope_refuses_a_fragment() -> None:
    with pytest.raises(InvalidInput, match="leave out the #"):
        open_scope("https://x.example/#a")


def test_open_scope_refuses_a_query_in_the_start() -> None:
    with pytest.raises(InvalidInput, match="query"):
        open_scope("https://x.example/?page=docs")


@pytest.mark.parametrize(
    ("path", "inside"),
    [("/docs", True), ("/docs/a", True), ("/docsearch", False), ("/", False), ("/blog/docs", False)],
)
def test_scope_contains_pages_below_the_start(path: str, inside: bool) -> None:
    assert open_scope("https://book.example/docs/").wants(f"https://book.example{path}") is inside


@pytest.mark.parametrize(
    ("page_filter", "expected"),
    [
        (PageFilter(include=("/docs/*",)), ["/docs/a", "/docs/a/b"]),
        (PageFilter(include=("docs",)), ["/docs/a", "/docs/a/b"]),
        (PageFilter(exclude=("*/a/*",)), ["/"]),
        (PageFilter(exclude=("/blog", "/docs/a/b")), ["/docs/a", "/"]),
        (PageFilter(include=("/docs/*",), exclude=("*/b",)), ["/docs/a"]),
    ],
)
def test_page_filter_matches_paths(page_filter: PageFilter, expected: list[str]) -> None:
    scope = open_scope("https://book.example/", page_filter=page_filter)
    paths = ["/docs/a", "/docs/a/b", "/blog/a", "/"]
    assert [path for path in paths if scope.wants(f"https://book.example{path}")] == expected


def test_scope_treats_http_and_https_as_one_host() -> None:
    scope = open_scope("https://book.example/docs/")
    assert scope.public_url("http://book.example/docs/a/") == "https://book.example/docs/a"
    assert scope.served_address("http://book.example/docs/a/") == "https://book.example/docs/a/"
    for external in (
        "https://www.book.example/docs/a",
        "https://book.example:8443/docs/a",
        "http://127.0.0.1/",
    ):
        assert scope.public_url(external) is None
        assert scope.served_address(external) is None


def test_scope_maps_a_copy_to_its_public_address() -> None:
    scope = open_scope("http://127.0.0.1:3000/docs/", "https://handbook.example/docs")
    assert scope.name == "https://handbook.example/docs"
    for address in ("http://127.0.0.1:3000/docs/a/", "https://handbook.example/docs/a/"):
        assert scope.public_url(address) == "https://handbook.example/docs/a"
        assert scope.served_address(address) == "http://127.0.0.1:3000/docs/a/"
    # Both end in the same path, so paths beside it are mapped too, such as a sitemap.
    assert scope.served_address("https://handbook.example/sitemap.xml") == "http://127.0.0.1:3000/sitemap.xml"


def test_scope_maps_a_copy_at_another_path() -> None:
    scope = open_scope("http://127.0.0.1:3000/", "https://me.github.example/book/")
    assert scope.public_url("http://127.0.0.1:3000/docs/a") == "https://me.github.example/book/docs/a"
    assert scope.served_address("https://me.github.example/book/docs/a") == "http://127.0.0.1:3000/docs/a"
    assert scope.served_address("https://me.github.example/other") is None
    assert scope.public_url("http://127.0.0.1:3000/") == "https://me.github.example/book"


@pytest.mark.parametrize("start", ["https://me:secret@book.example/", "https://secret@book.example/docs"])
def test_open_scope_refuses_a_password_without_showing_it(start: str) -> None:
    with pytest.raises(InvalidInput, match="password") as refusal:
        open_scope(start)
    with pytest.raises(InvalidInput, match="base_url"):
        open_scope("https://book.example/", start)
    assert "secret" not in str(refusal.value)


def test_open_scope_names_the_field_with_a_query() -> None:
    with pytest.raises(InvalidInput, match=r"base_url.*has a query"):
        open_scope("https://book.example/", "https://h.example/docs?x")
    with pytest.raises(InvalidInput, match=r"source.*has a query"):
        open_scope("https://book.example/?x")


@pytest.mark.parametrize("field", ["include", "exclude", "versions", "locales"])
def test_page_filter_refuses_empty_values(field: str) -> None:
    with pytest.raises(InvalidInput, match=f"{field}: must not be empty"):
        PageFilter(**{field: ("/docs", " ")})


@pytest.mark.parametrize("field", ["delay", "crawl_seconds"])
@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), -1.0, 1e12])
def test_crawl_limits_refuse_invalid_times(field: str, seconds: float) -> None:
    with pytest.raises(InvalidInput, match=field):
        CrawlLimits(**{field: seconds})  # type: ignore[arg-type]
