from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.errors import InvalidInput
from pertinent.sources.site.addresses import _PLAIN, LONGEST, absolute, is_sitemap, open_site
from pertinent.sources.site.limits import Choice, Limits

BASE = "https://book.example/docs/guide/"


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("intro", "https://book.example/docs/guide/intro"),
        ("../intro/", "https://book.example/docs/intro/"),
        ("/intro#part", "https://book.example/intro"),
        ("#part", BASE),
        ("//book.example/x", "https://book.example/x"),
        ("https://BOOK.example:443/x", "https://book.example/x"),
        ("http://book.example:80/x", "http://book.example/x"),
        ("http://book.example:8080/x", "http://book.example:8080/x"),
        ("https://book.example/a/../b/./c", "https://book.example/b/c"),
        ("https://book.example/a/..", "https://book.example/"),
        ("/x?utm_source=a&page=2&gclid=b&fbclid=c", "https://book.example/x?page=2"),
        ("/x?utm_source=a", "https://book.example/x"),
        ("/caf\u00e9 au lait", "https://book.example/caf%C3%A9%20au%20lait"),
        ("/caf%c3%a9%7e", "https://book.example/caf%C3%A9~"),
        ("/a\n b", "https://book.example/a%20b"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x"),
        ("https://b\u00fccher.example/", "https://xn--bcher-kva.example/"),
    ],
)
def test_a_link_has_one_address(link: str, address: str) -> None:
    assert absolute(link, BASE) == address


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "mailto:me@book.example",
        "data:text/html,<h1>x</h1>",
        "tel:123",
        "ftp://book.example/x",
        "https://user:pass@book.example/x",
        "https://me@book.example/x",
        "https://book.example:notaport/",
        "https://book.example:99999/",
        "http://[::1/x",
        "/" + "x" * LONGEST,
        "/" + "é" * (LONGEST // 2),
        "https://\u2024\u2024.example/",
    ],
)
def test_what_no_page_can_be_fetched_from_has_none(link: str) -> None:
    assert absolute(link, BASE) is None


@given(st.text(max_size=60))
def test_an_address_is_its_own_address(link: str) -> None:
    address = absolute(link, BASE)
    if address is not None:
        assert absolute(address) == address
        assert address.isascii()
        assert urlsplit(address).fragment == ""


@pytest.mark.parametrize(
    ("start", "scope", "name"),
    [
        ("https://book.example", "", "https://book.example"),
        ("https://book.example/", "", "https://book.example"),
        ("https://book.example/docs/", "/docs", "https://book.example/docs"),
        ("https://book.example/docs/index.html", "/docs", "https://book.example/docs"),
        ("https://book.example/book/sitemap.xml", "", "https://book.example/book"),
        ("https://book.example/sitemap_index.xml.gz", "", "https://book.example"),
    ],
)
def test_a_start_address_says_what_is_wanted(start: str, scope: str, name: str) -> None:
    site = open_site(start)
    assert (site.scope, site.name, site.from_sitemap) == (scope, name, is_sitemap(start))


@pytest.mark.parametrize(
    "start",
    ["https://", "ftp://x.example/", "http://x y/"],
)
def test_what_is_no_start_address_is_refused(start: str) -> None:
    with pytest.raises(InvalidInput, match="such as https://"):
        open_site(start)


def test_a_start_address_with_a_fragment_is_refused() -> None:
    with pytest.raises(InvalidInput, match="without what follows the #"):
        open_site("https://x.example/#a")


def test_a_start_address_with_a_query_is_refused() -> None:
    with pytest.raises(InvalidInput, match="query"):
        open_site("https://x.example/?page=docs")


@pytest.mark.parametrize(
    ("path", "inside"),
    [("/docs", True), ("/docs/a", True), ("/docsearch", False), ("/", False), ("/blog/docs", False)],
)
def test_only_what_lies_below_the_start_is_wanted(path: str, inside: bool) -> None:
    assert open_site("https://book.example/docs/").holds(f"https://book.example{path}") is inside


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        (Choice(include=("/docs/*",)), ["/docs/a", "/docs/a/b"]),
        (Choice(include=("docs",)), ["/docs/a", "/docs/a/b"]),
        (Choice(exclude=("*/a/*",)), ["/"]),
        (Choice(exclude=("/blog", "/docs/a/b")), ["/docs/a", "/"]),
        (Choice(include=("/docs/*",), exclude=("*/b",)), ["/docs/a"]),
    ],
)
def test_patterns_choose_by_the_path(choice: Choice, wanted: list[str]) -> None:
    site = open_site("https://book.example/", choice=choice)
    paths = ["/docs/a", "/docs/a/b", "/blog/a", "/"]
    assert [path for path in paths if site.holds(f"https://book.example{path}")] == wanted


def test_the_same_host_under_the_other_scheme_is_the_same_site() -> None:
    site = open_site("https://book.example/docs/")
    assert site.url("http://book.example/docs/a/") == "https://book.example/docs/a"
    assert site.address("http://book.example/docs/a/") == "https://book.example/docs/a/"
    for other in ("https://www.book.example/docs/a", "https://book.example:8443/docs/a", "http://127.0.0.1/"):
        assert site.url(other) is None
        assert site.address(other) is None


def test_a_copy_is_known_by_the_address_of_the_original() -> None:
    site = open_site("http://127.0.0.1:3000/docs/", "https://handbook.example/docs")
    assert site.name == "https://handbook.example/docs"
    for found in ("http://127.0.0.1:3000/docs/a/", "https://handbook.example/docs/a/"):
        assert site.url(found) == "https://handbook.example/docs/a"
        assert site.address(found) == "http://127.0.0.1:3000/docs/a/"
    # Both end in the same path, so what lies beside it is told too: a sitemap does.
    assert site.address("https://handbook.example/sitemap.xml") == "http://127.0.0.1:3000/sitemap.xml"


def test_a_copy_may_lie_at_another_path() -> None:
    site = open_site("http://127.0.0.1:3000/", "https://me.github.example/book/")
    assert site.url("http://127.0.0.1:3000/docs/a") == "https://me.github.example/book/docs/a"
    assert site.address("https://me.github.example/book/docs/a") == "http://127.0.0.1:3000/docs/a"
    assert site.address("https://me.github.example/other") is None
    assert site.url("http://127.0.0.1:3000/") == "https://me.github.example/book"


@pytest.mark.parametrize("start", ["https://me:secret@book.example/", "https://secret@book.example/docs"])
def test_a_password_is_refused_and_not_repeated(start: str) -> None:
    with pytest.raises(InvalidInput, match="password") as refusal:
        open_site(start)
    with pytest.raises(InvalidInput, match="base_url"):
        open_site("https://book.example/", start)
    assert "secret" not in str(refusal.value)


def test_a_query_is_no_part_of_where_pages_lie() -> None:
    with pytest.raises(InvalidInput, match=r"base_url.*has a query"):
        open_site("https://book.example/", "https://h.example/docs?x")
    with pytest.raises(InvalidInput, match=r"source.*has a query"):
        open_site("https://book.example/?x")


@pytest.mark.parametrize("field", ["include", "exclude", "versions", "locales"])
def test_an_empty_choice_is_refused(field: str) -> None:
    with pytest.raises(InvalidInput, match=f"{field}: must not be empty"):
        Choice(**{field: ("/docs", " ")})


@pytest.mark.parametrize("field", ["delay", "crawl_seconds"])
@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), -1.0, 1e12])
def test_a_time_that_is_none_is_refused(field: str, seconds: float) -> None:
    with pytest.raises(InvalidInput, match=field):
        Limits(**{field: seconds})  # type: ignore[arg-type]


@given(st.from_regex(_PLAIN, fullmatch=True))
def test_what_looks_plain_is_in_its_one_form_already(link: str) -> None:
    # With a fragment it is taken apart and put together again.
    assert absolute(link) == absolute(f"{link}#part")


@pytest.mark.parametrize(
    "link",
    [
        "https://book.example/docs/a.b_c-d/",
        "http://127.0.0.1:8000/docs/page-1",
        "http://book.example:60000/x",
    ],
)
def test_plain_addresses_stay_as_they_are(link: str) -> None:
    assert absolute(link) == link


@pytest.mark.parametrize(
    "link",
    ["http://book.example:65536/x", "http://book.example:99999/x", "https://book.example/" + "x" * LONGEST],
)
def test_what_only_looks_plain_is_no_address(link: str) -> None:
    assert absolute(link) is None
