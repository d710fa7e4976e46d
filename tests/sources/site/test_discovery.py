"""Which pages a crawl finds: robots.txt, sitemaps, links, filters, versions."""

from __future__ import annotations

import gzip
import time
from dataclasses import replace

import pytest

from pertinent.errors import SourceError
from pertinent.sources.site import SiteSource
from pertinent.sources.site.discovery import discover_pages
from pertinent.sources.site.fetch import Fetcher
from pertinent.sources.site.page_filter import PageFilter
from pertinent.sources.site.scope import open_scope
from pertinent.sources.site.versions_and_locales import Translation
from pertinent.types import LazyPage, Skipped, Unreadable

from .conftest import FAST_LIMITS, check_incomplete, crawl
from .server import LocalSite, doc, links, page, sitemap, sitemap_index


def test_sitemap_pages_come_in_order(site: LocalSite) -> None:
    site.book("zebra", "apple", "mango")
    pages, unreadable = crawl(site)
    assert list(pages) == ["/docs/zebra", "/docs/apple", "/docs/mango"]
    assert unreadable == []
    apple = pages["/docs/apple"]
    assert (apple.title, apple.url) == ("Apple", f"{site.address}/docs/apple")
    assert (apple.source_type, apple.slug) == ("web-page", "docs-apple")
    assert "This page is about apple." in apple.text


def test_total_comes_from_the_sitemap_and_pages_are_fetched_once(site: LocalSite) -> None:
    site.book("a", "b", "c")
    source = SiteSource(site.address, limits=FAST_LIMITS)
    assert source.total == 3
    assert len(list(source.read())) == 3
    assert sorted(site.requested_paths) == ["/docs/a", "/docs/b", "/docs/c", "/robots.txt", "/sitemap.xml"]


def test_source_can_be_read_twice(site: LocalSite) -> None:
    site.book("a", "b")
    source = SiteSource(site.address, limits=FAST_LIMITS)
    assert list(source.read()) == list(source.read())


def test_sitemap_named_in_robots_txt_is_read(site: LocalSite) -> None:
    site.book("a")
    site.pages["/maps/all.xml"] = site.pages.pop("/sitemap.xml")
    site.pages["/robots.txt"] = f"User-agent: *\nSitemap: {site.address}/maps/all.xml\n"
    assert list(crawl(site)[0]) == ["/docs/a"]


def test_sitemap_index_with_compressed_sitemaps_is_read(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/one.xml"] = site.pages["/sitemap.xml"]
    site.pages["/c"] = page("C")
    site.pages["/two.xml.gz"] = gzip.compress(sitemap(f"{site.address}/c").encode())
    site.pages["/sitemap.xml"] = sitemap_index(f"{site.address}/one.xml", f"{site.address}/two.xml.gz")
    assert list(crawl(site)[0]) == ["/docs/a", "/docs/b", "/c"]


def test_crawl_can_start_at_a_sitemap(site: LocalSite) -> None:
    site.book("a")
    site.sitemap("/docs/a", at="/maps/docs.xml")
    assert list(crawl(site, "/maps/docs.xml")[0]) == ["/docs/a"]
    assert SiteSource(f"{site.address}/maps/docs.xml").name == f"{site.address}/maps"


def test_sitemap_of_a_parent_folder_is_found(site: LocalSite) -> None:
    site.pages |= {"/project/docs/a": page("A"), "/project/blog/b": page("B")}
    site.sitemap("/project/docs/a", "/project/blog/b", at="/project/sitemap.xml")
    assert list(crawl(site, "/project/docs/")[0]) == ["/project/docs/a"]


def test_links_below_the_start_are_followed_without_a_sitemap(site: LocalSite) -> None:
    site.pages |= {
        "/docs": page("Docs", links("/docs/a", "b", "/docs/c/", "/blog", "https://other.example/docs/x")),
        "/docs/a": page(
            "A", links("/docs/a#part", "/docs/a?utm_source=x", "mailto:me", "javascript:void(0)")
        ),
        "/docs/c/": page("C", links("d", "../a", "/docs/file.pdf", "/docs/picture.png")),
        "/docs/c/d": page("D"),
        "/b": page("Outside"),
        "/blog": page("Blog"),
    }
    pages, unreadable = crawl(site, "/docs")
    assert list(pages) == ["/docs", "/docs/a", "/docs/c", "/docs/c/d"]
    assert unreadable == []
    assert "/blog" not in site.requested_paths
    assert "/docs/file.pdf" not in site.requested_paths


def test_links_of_noindex_pages_are_followed(site: LocalSite) -> None:
    home = page("Home", links("/a"), head='<meta name="robots" content="noindex">')
    site.pages |= {"/": home, "/a": page("A")}
    assert list(crawl(site)[0]) == ["/a"]


def test_pages_that_robots_txt_forbids_are_not_fetched(site: LocalSite) -> None:
    site.book("a", "secret", "search")
    site.pages["/robots.txt"] = (
        "User-agent: *\nDisallow: /\n\nUser-agent: Pertinent\nDisallow: /*secret\nDisallow: /docs/search$\n"
    )
    assert list(crawl(site)[0]) == ["/docs/a"]
    assert not {"/docs/secret", "/docs/search"} & set(site.requested_paths)


@pytest.mark.parametrize("listed", [True, False])
def test_pages_that_robots_txt_forbids_are_counted_as_skipped(site: LocalSite, listed: bool) -> None:
    paths = ("/a", "/private/x", "/private/y", "/excluded/private")
    site.pages |= {path: page(path) for path in paths}
    site.pages["/"] = page("Home", links(*paths, "/private/x/", "/private/x#part"))
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /private/\nDisallow: /excluded/private\n"
    if listed:
        site.sitemap("/", *paths, "/private/x/")
    page_filter = PageFilter(exclude=("/excluded",))
    results = list(SiteSource(site.address, limits=FAST_LIMITS, page_filter=page_filter).read())
    skipped = [result for result in results if isinstance(result, Skipped)]
    assert skipped == [Skipped(f"forbidden by robots.txt, such as {site.address}/private/x", 2)]


def test_page_that_robots_txt_forbids_at_another_spelling_is_not_counted(site: LocalSite) -> None:
    site.pages |= {"/": page("Home", links("/a/", "/a")), "/a": page("A")}
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /a/\n"
    results = list(SiteSource(site.address, limits=FAST_LIMITS).read())
    assert sum(isinstance(result, LazyPage) for result in results) == 2
    assert not any(isinstance(result, Skipped) for result in results)


def test_redirect_that_robots_txt_forbids_is_not_followed(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /private\n"
    site.pages["/docs/b"] = lambda request: request.send(status=302, headers={"Location": "/private"})
    assert list(crawl(site)[0]) == ["/docs/a"]
    assert "/private" not in site.requested_paths


def test_forbidden_start_page_is_a_clear_error(site: LocalSite) -> None:
    site.pages |= {"/": page("Home"), "/robots.txt": "User-agent: *\nDisallow: /\n"}
    with pytest.raises(SourceError, match=r"robots\.txt"):
        crawl(site)


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_missing_robots_txt_allows_everything(site: LocalSite, status: int) -> None:
    site.book("a")
    site.pages["/robots.txt"] = lambda request: request.send(status=status)
    assert list(crawl(site)[0]) == ["/docs/a"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_failing_robots_txt_forbids_the_crawl(site: LocalSite, status: int) -> None:
    site.book("a")
    site.pages["/robots.txt"] = lambda request: request.send(status=status)
    with pytest.raises(SourceError, match=rf"robots.txt answers HTTP {status}"):
        crawl(site)
    assert "/docs/a" not in site.requested_paths


def test_crawl_delay_is_respected(site: LocalSite) -> None:
    site.book(*"abcd")
    site.pages["/robots.txt"] = "User-agent: *\nCrawl-delay: 0.1\n"
    start = time.monotonic()
    assert len(crawl(site)[0]) == 4
    assert time.monotonic() - start >= 0.3


def test_requests_have_a_user_agent(site: LocalSite) -> None:
    site.book("a")
    crawl(site)
    sent = {(headers["user-agent"], headers["accept-encoding"]) for headers in site.request_headers}
    assert sent == {("Pertinent/0.1.0 (+documentation indexer)", "gzip, deflate")}


def test_excluded_pages_are_not_fetched(site: LocalSite) -> None:
    site.book("a", "b", "old-a")
    assert list(crawl(site, exclude=("/docs/old-*",))[0]) == ["/docs/a", "/docs/b"]
    assert "/docs/old-a" not in site.requested_paths
    assert list(crawl(site, include=("*/b",))[0]) == ["/docs/b"]


@pytest.mark.parametrize("start", [True, False])
def test_patterns_that_exclude_all_pages_are_a_clear_error(site: LocalSite, start: bool) -> None:
    site.book("a", "b", "c")
    if start:
        site.pages["/"] = page("Start")
    message = r"--include, --exclude and robots\.txt exclude all 3 pages of its sitemaps"
    with pytest.raises(SourceError, match=message):
        crawl(site, include=("/nothing/*",))


def test_error_without_pages_gives_the_reason_that_applies(site: LocalSite) -> None:
    site.book("a", "b")
    del site.pages["/docs/a"]
    message = r"no pages found at .* \(1 answers HTTP 404, such as .*/docs/a\); nothing was changed"
    with pytest.raises(SourceError, match=message):
        crawl(site, exclude=("/docs/b",))


def test_error_without_pages_explains_the_base_url(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/sitemap.xml"] = sitemap("https://h.example/docs/a", "https://h.example/docs/b")
    with pytest.raises(SourceError) as failure:
        list(SiteSource(f"{site.address}/docs/", base_url="https://h.example", limits=FAST_LIMITS).read())
    at = f"{site.address}/docs"
    reason = f"(2 answers HTTP 404, such as {at}/docs/a; --base-url replaces {at} by https://h.example)"
    assert reason in str(failure.value)


def test_sitemap_with_pages_of_another_host_is_reported(site: LocalSite) -> None:
    site.pages["/"] = page("Start", links("/docs/a"))
    site.pages["/docs/a"] = page("A")
    site.pages["/sitemap.xml"] = sitemap("https://h.example/docs/a", "https://h.example/docs/b")
    results = list(SiteSource(site.address, limits=FAST_LIMITS).read())
    reason = (
        "listed on another host, such as https://h.example/docs/a; if this is a copy of that site, give "
        "its address with --base-url"
    )
    assert Skipped(reason, 2) in results
    assert sum(isinstance(result, LazyPage) for result in results) == 2
    del site.pages["/"]
    with pytest.raises(
        SourceError, match=r"404; its sitemap lists https://h\.example/docs/a; if this is a copy"
    ):
        crawl(site)


def test_sitemap_part_on_another_host_is_reported(site: LocalSite) -> None:
    site.book("a")
    site.pages["/parts.xml"] = site.pages["/sitemap.xml"]
    site.pages["/sitemap.xml"] = sitemap_index(f"{site.address}/parts.xml", "https://h.example/more.xml")
    results = list(SiteSource(site.address, limits=FAST_LIMITS).read())
    (skipped,) = [result for result in results if isinstance(result, Skipped)]
    assert (skipped.pages, "such as https://h.example/more.xml" in skipped.reason) == (1, True)


def test_robots_txt_sitemap_on_another_host_is_reported(site: LocalSite) -> None:
    site.pages["/"] = page("Start")
    site.pages["/robots.txt"] = "User-agent: *\nSitemap: https://h.example/sitemap.xml\n"
    results = list(SiteSource(site.address, limits=FAST_LIMITS).read())
    (skipped,) = [result for result in results if isinstance(result, Skipped)]
    assert "such as https://h.example/sitemap.xml" in skipped.reason


def test_requested_older_version_is_read_despite_its_canonical(site: LocalSite) -> None:
    for version in ("stable", "1.0"):
        for name in "abc":
            canonical = f'<link rel="canonical" href="{site.address}/en/stable/{name}">'
            body = f"<p>This is {name} of {version}.</p>"
            site.pages[f"/en/{version}/{name}"] = page(name, body, head=canonical)
    site.sitemap(*(path for path in site.pages))
    assert len(crawl(site)[0]) == 3
    assert len(crawl(site, versions=("1.0",))[0]) == 6


def test_versions_are_recognised_by_links(site: LocalSite) -> None:
    names = "abcdef"
    site.pages["/"] = page("Start", links("/en/1.0/", "/en/stable/", "/en/2.0/"))
    for version in ("1.0", "stable", "2.0"):
        site.pages[f"/en/{version}/"] = page(version, links(*(f"/en/{version}/{name}" for name in names)))
        for name in names:
            site.pages[f"/en/{version}/{name}"] = page(name, f"<p>This is {name} of {version}.</p>")
    pages, _ = crawl(site)
    assert {path for path in pages if path.count("/") == 3} == {f"/en/stable/{name}" for name in names}
    pages, _ = crawl(site, versions=("2.0",))
    assert {f"/en/2.0/{name}" for name in names} <= pages.keys()
    assert not any(path.startswith("/en/1.0/") for path in pages)


def test_redirects_to_the_same_page_are_counted_as_skipped(site: LocalSite) -> None:
    site.book("a", "b", "c")
    for name in "abc":
        site.pages[f"/docs/{name}"] = lambda r: r.send(status=302, headers={"Location": "/docs/login"})
    site.pages["/docs/login"] = page("Log in")
    results = list(SiteSource(site.address, limits=FAST_LIMITS).read())
    assert sum(isinstance(result, LazyPage) for result in results) == 1
    (skipped,) = [result for result in results if isinstance(result, Skipped)]
    folder = f"{site.address}/docs/"
    assert skipped.pages == 2
    assert skipped.reason == f"redirected to {folder}login, which is queued already, such as {folder}b"


def test_addresses_of_the_same_url_are_fetched_once(site: LocalSite) -> None:
    paths = ("/a/", "/a", "/a/index.html", "/a?utm_source=mail", "/a?fbclid=1#x")
    site.pages |= dict.fromkeys(paths, page("A"))
    site.sitemap(*paths)
    pages, _ = crawl(site)
    assert list(pages) == ["/a"]
    assert [path for path in site.requested_paths if path.startswith("/a")] == ["/a/"]


def test_page_with_another_canonical_is_skipped(site: LocalSite) -> None:
    named = f'<link rel="canonical" href="{site.address}/docs/real/">'
    site.pages |= {
        "/docs/copy": page("Copy", head=named),
        "/docs/real/": page("Real", head=named),
        "/docs/outside": page("Outside", head='<link rel="canonical" href="https://other.example/x">'),
        "/docs/lost": page("Lost", head='<link rel="canonical" href="/docs/nowhere">'),
    }
    site.sitemap("/docs/copy", "/docs/outside", "/docs/lost")
    pages, unreadable = crawl(site)
    assert sorted(pages) == ["/docs/lost", "/docs/outside", "/docs/real"]
    assert unreadable == []


@pytest.mark.parametrize(("number", "titled"), [(2, "Page {}"), (60, "Page {}"), (60, "Home")])
def test_wrong_canonical_on_every_page_loses_no_page(site: LocalSite, number: int, titled: str) -> None:
    names = [f"p{position}" for position in range(number)]
    for name in names:
        body = f"<p>This page is about {name}.</p>"
        site.pages[f"/{name}"] = page(titled.format(name), body, head='<link rel="canonical" href="/">')
    site.pages["/"] = page("Home")
    site.sitemap("/", *(f"/{name}" for name in names))
    assert len(crawl(site)[0]) == number + 1


def test_aliases_of_a_page_give_one_page(site: LocalSite) -> None:
    html = page("Guide", head='<link rel="canonical" href="/guide">')
    site.pages |= dict.fromkeys(("/guide", "/guide/print", "/guide?sort=up", "/guide?sort=down"), html)
    site.sitemap("/guide/print", "/guide?sort=up", "/guide?sort=down")
    assert list(crawl(site)[0]) == ["/guide"]


def test_noindex_pages_are_skipped(site: LocalSite) -> None:
    site.book("a", "b", "c")
    site.pages["/docs/b"] = page("B", head='<meta name="robots" content="noindex, follow">')
    site.pages["/docs/c"] = lambda request: request.send(page("C"), headers={"X-Robots-Tag": "noindex"})
    preview_none = {"X-Robots-Tag": "max-image-preview:none"}
    site.pages["/docs/a"] = lambda request: request.send(page("A"), headers=preview_none)
    assert list(crawl(site)[0]) == ["/docs/a"]


def test_meta_refresh_is_followed_and_not_indexed(site: LocalSite) -> None:
    site.pages["/"] = page("Redirecting …", head='<meta http-equiv="refresh" content="1; url=latest/">')
    site.pages["/latest/"] = page("Latest")
    assert list(crawl(site)[0]) == ["/latest"]


def test_site_without_pages_is_a_clear_error(site: LocalSite) -> None:
    site.book("a")
    site.pages["/docs/a"] = page("A", head='<meta name="robots" content="noindex">')
    with pytest.raises(SourceError, match=r"no pages found.*1 noindex"):
        crawl(site)


def test_dead_link_does_not_make_a_folder_a_version(site: LocalSite) -> None:
    paths = [f"/docs/v2/{name}" for name in "abcd"]
    site.pages |= {"/": page("Home", links("/docs/a", *paths)), **{path: page(path) for path in paths}}
    assert list(crawl(site)[0]) == ["/", *paths]


def test_dead_link_does_not_hide_a_version_that_pages_declare(site: LocalSite) -> None:
    paths = [f"/docs/2.0/{name}" for name in "ab"]
    site.pages |= {path: doc(path[-1], path, version="2.0") for path in paths}
    site.pages["/"] = page("Home", links("/docs/a", *paths))
    assert sorted(crawl(site)[0]) == ["/", *paths]


@pytest.mark.parametrize(
    "answer",
    [
        page("Home"),
        page("Moved", head='<meta http-equiv="refresh" content="0; url=/docs/2.0/a">'),
        "<html><body><div id='root'></div></body></html>",
    ],
    ids=["home page", "refresh", "no article"],
)
def test_dead_link_that_answers_does_not_hide_a_version_that_pages_declare(
    site: LocalSite, answer: str
) -> None:
    paths = [f"/docs/2.0/{name}" for name in "abc"]
    site.pages |= {path: doc(path[-1], path, version="2.0") for path in paths}
    site.pages |= {"/": page("Home", links("/docs/a", *paths)), "/docs/a": answer}
    assert set(crawl(site)[0]) >= {"/", *paths}


def test_pages_without_an_article_are_no_twins_of_a_version(site: LocalSite) -> None:
    paths = [f"/docs/v2/{name}" for name in "abcd"]
    twins = [f"/docs/{name}" for name in "abcd"]
    site.pages |= {path: page(path) for path in paths}
    site.pages |= dict.fromkeys(twins, "<html><body><div id='root'></div></body></html>")
    site.pages["/"] = page("Home", links(*twins, *paths))
    assert list(crawl(site)[0]) == ["/", *paths]


def test_declared_version_with_any_name_that_is_linked_before_its_twin_is_left_out(site: LocalSite) -> None:
    site.pages |= {"/docs/a": doc("a", "new", version="2.0"), "/docs/blue/a": doc("a", "old", version="blue")}
    site.pages["/"] = page("Home", links("/docs/blue/a", "/docs/a"))
    assert list(crawl(site)[0]) == ["/", "/docs/a"]


def test_version_that_is_linked_before_its_twins_is_left_out(site: LocalSite) -> None:
    current, upcoming = ([f"/docs/{version}{name}" for name in ("a", "b")] for version in ("", "next/"))
    site.pages |= {path: page(path) for path in (*current, *upcoming)}
    site.pages["/"] = page("Home", links(*upcoming, *current))
    assert list(crawl(site)[0]) == ["/", *current]
    assert sorted(crawl(site, versions=("next",))[0]) == sorted(["/", *current, *upcoming])


def test_current_version_is_read_and_others_on_request(site: LocalSite) -> None:
    versions = {
        "/docs/": "2.0",
        "/docs/a": "2.0",
        "/docs/next/": "current",
        "/docs/next/a": "current",
        "/docs/1.0/a": "1.0",
    }
    for path, version in versions.items():
        name = "a" if path.endswith("a") else "intro"
        site.pages[path] = doc(name, f"{name} {version}", version=version)
    site.sitemap(*versions)
    slugs = {page.url.removeprefix(site.address): page.slug for page in crawl(site)[0].values()}
    assert slugs == {"/docs/a": "a", "/docs": "intro"}
    assert "/docs/1.0/a" not in site.requested_paths
    with_next, _ = crawl(site, versions=("next",))
    assert sorted(with_next) == ["/docs", "/docs/a", "/docs/next", "/docs/next/a"]
    assert with_next["/docs/next/a"].slug == "a"
    assert sorted(crawl(site, "/docs/1.0/")[0]) == ["/docs/1.0/a"]


def test_translations_are_skipped_when_links_are_followed(site: LocalSite) -> None:
    site.pages |= {
        "/": page("Home", links("/a", "/fr/")),
        "/a": page("A", links("/fr/a")),
        "/fr/": page("Accueil", links("/fr/a", "/fr/b"), lang="fr"),
        "/fr/a": page("A", lang="fr"),
        "/fr/b": page("B", lang="fr"),
    }
    assert sorted(crawl(site)[0]) == ["/", "/a"]
    assert "/fr/b" not in site.requested_paths
    assert sorted(crawl(site, locales=("fr",))[0]) == ["/", "/a", "/fr", "/fr/a", "/fr/b"]


def test_translations_are_skipped_in_a_sitemap(site: LocalSite) -> None:
    for path in ("/cs/a", "/cs/b", "/a", "/b", "/go/a", "/go/b"):
        site.pages[path] = page(path, lang="cs" if path.startswith("/cs") else "en")
    site.sitemap("/cs/a", "/cs/b", "/go/a", "/go/b", "/a", "/b")
    pages, _ = crawl(site, limits=replace(FAST_LIMITS, connections=1))
    assert sorted(pages) == ["/a", "/b", "/go/a", "/go/b"]
    assert sorted(crawl(site, "/cs/")[0]) == ["/cs/a", "/cs/b"]
    assert len(crawl(site, locales=("all",))[0]) == 6


def serve_sitemaps_of_locales(site: LocalSite, host: str = "") -> None:
    """As Docusaurus builds it: each language has a sitemap, and pages link to their translations."""
    alternates = "".join(
        f'<link rel="alternate" href="{host or site.address}{path}" hreflang="{language}">'
        for language, path in (("en", "/"), ("de", "/de/"), ("fr", "/fr/"), ("x-default", "/"))
    )
    for language, folder in (("en", ""), ("de", "/de"), ("fr", "/fr")):
        paths = [f"{folder}/", f"{folder}/docs/a"]
        site.pages |= {path: page(f"Page {path}", head=alternates, lang=language) for path in paths}
        site.pages[f"{folder}/sitemap.xml"] = sitemap(*((host or site.address) + path for path in paths))


def test_sitemaps_of_requested_locales_are_read(site: LocalSite) -> None:
    serve_sitemaps_of_locales(site)
    assert sorted(crawl(site)[0]) == ["/", "/docs/a"]
    assert "/de/sitemap.xml" not in site.requested_paths
    assert sorted(crawl(site, locales=("de",))[0]) == ["/", "/de", "/de/docs/a", "/docs/a"]
    assert "/fr/sitemap.xml" not in site.requested_paths
    assert len(crawl(site, locales=("all",))[0]) == 6


def test_sitemaps_of_locales_are_read_from_a_copy(site: LocalSite) -> None:
    serve_sitemaps_of_locales(site, "https://h.example")
    pages, _ = crawl(site, base_url="https://h.example", locales=("all",))
    assert "https://h.example/de/docs/a" in [page.url for page in pages.values()]
    assert len(pages) == 6


def test_sitemaps_of_locales_are_found_from_a_redirected_start(site: LocalSite) -> None:
    serve_sitemaps_of_locales(site)
    alternate = f'<link rel="alternate" href="{site.address}/de/docs/a" hreflang="de">'
    site.pages["/docs/a"] = page("A", head=alternate)
    site.pages["/"] = lambda r: r.send(status=302, headers={"Location": "/docs/a"})
    assert sorted(crawl(site, locales=("de",))[0]) == ["/de", "/de/docs/a", "/docs/a"]


def test_start_page_that_fails_may_hide_translations(site: LocalSite) -> None:
    serve_sitemaps_of_locales(site)
    site.sitemap("/docs/a")
    site.pages["/"] = lambda r: r.send(status=500)
    _, unreadable = crawl(site, locales=("de",))
    check_incomplete(unreadable, "translations")


def test_requested_locale_without_pages_is_reported(site: LocalSite) -> None:
    serve_sitemaps_of_locales(site)
    del site.pages["/de/sitemap.xml"]
    source = SiteSource(site.address, limits=FAST_LIMITS, page_filter=PageFilter(locales=("de",)))
    results = list(source.read())
    assert not any(isinstance(result, Unreadable) and result.is_page for result in results)
    reasons = [result.reason for result in results if isinstance(result, Skipped)]
    assert "of locale de: the site does not have it" in reasons


def test_start_that_redirects_out_of_scope_suggests_another(site: LocalSite) -> None:
    site.pages["/docs"] = lambda r: r.send(status=302, headers={"Location": "/manual/"})
    site.pages["/manual/"] = page("Manual")
    manual = f"{site.address}/manual/"
    with pytest.raises(SourceError, match=rf"1 redirected to {manual}.*Start at {manual} instead"):
        crawl(site, "/docs")


def test_copy_of_a_site_has_the_urls_of_the_original(site: LocalSite) -> None:
    site.pages |= {
        "/docs/a": page("A", links("/docs/b"), head='<link rel="canonical" href="https://h.example/docs/a">'),
        "/docs/b": page("B", links("http://h.example/docs/a")),
        "/sitemap.xml": sitemap("https://h.example/docs/a", "https://h.example/docs/b/"),
        "/docs/b/": page("B"),
    }
    pages, unreadable = crawl(site, base_url="https://h.example")
    assert [page.url for page in pages.values()] == ["https://h.example/docs/a", "https://h.example/docs/b"]
    assert unreadable == []
    assert SiteSource(site.address, base_url="https://h.example/").name == "https://h.example"


def test_sitemap_of_another_host_is_not_used(site: LocalSite) -> None:
    site.pages |= {"/": page("Home", links("/a")), "/a": page("A")}
    site.pages["/sitemap.xml"] = sitemap("https://h.example/a", "https://h.example/b")
    assert list(crawl(site)[0]) == ["/", "/a"]
    with pytest.raises(SourceError, match="--base-url"):
        crawl(site, "/sitemap.xml")


def test_depth_and_number_of_followed_links_are_limited(site: LocalSite) -> None:
    for number in range(9):
        site.pages[f"/{'x' * number}"] = page(f"P{number}", links(f"/{'x' * (number + 1)}"))
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, depth=3))
    assert len(pages) == 4
    check_incomplete(unreadable, "3 links away")
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, pages=2))
    assert len(pages) == 2
    check_incomplete(unreadable, "more than 2 pages")


def test_page_limit_counts_wanted_pages_only(site: LocalSite) -> None:
    names = [f"/{folder}/{name}" for folder in ("blog", "docs/1.x", "docs") for name in "abcd"]
    site.pages |= {name: page(name) for name in names}
    site.sitemap(*names)
    pages, unreadable = crawl(site, "/docs", limits=replace(FAST_LIMITS, pages=4))
    assert (sorted(pages), unreadable) == ([f"/docs/{name}" for name in "abcd"], [])
    pages, unreadable = crawl(site, "/docs", limits=replace(FAST_LIMITS, pages=3))
    assert sorted(pages) == [f"/docs/{name}" for name in "abc"]
    check_incomplete(unreadable, "more than 3 pages")


def test_links_of_an_excluded_start_page_are_followed(site: LocalSite) -> None:
    site.pages |= {"/": page("Start", links("/guide/a", "/blog")), "/guide/a": page("A"), "/blog": page("B")}
    assert list(crawl(site, include=("/guide/*",))[0]) == ["/guide/a"]
    assert "/blog" not in site.requested_paths
    with pytest.raises(SourceError, match="1 excluded by --include or --exclude"):
        crawl(site, include=("/nothing/*",))


@pytest.mark.parametrize(("body", "encoding"), [(b"\x1f\x8b\x08", "gzip"), (b"Disallow: /", "br")])
def test_robots_txt_that_cannot_be_decoded_forbids_the_crawl(
    site: LocalSite, body: bytes, encoding: str
) -> None:
    site.book("a")
    site.pages["/robots.txt"] = lambda request: request.send(body, headers={"Content-Encoding": encoding})
    with pytest.raises(SourceError, match=r"robots.txt .*nothing may be fetched"):
        crawl(site)


def test_site_of_other_languages_only_says_so(site: LocalSite) -> None:
    pairs = (("/a", "/b"), ("/b", "/a"))
    listed = "".join(
        f"<url><loc>{site.address}{path}</loc>"
        f'<x:link rel="alternate" hreflang="x-default" href="{site.address}{default}"/></url>'
        for path, default in pairs
    )
    site.pages["/sitemap.xml"] = f'<urlset xmlns:x="http://www.w3.org/1999/xhtml">{listed}</urlset>'
    with pytest.raises(SourceError, match=r"no pages found .*2 of another version or language"):
        crawl(site)


@pytest.mark.parametrize(
    ("headers", "indexed"),
    [
        ("X-Robots-Tag: otherbot: noindex, nofollow", True),
        ("X-Robots-Tag: pertinent: noindex", False),
        ("X-Robots-Tag: otherbot: noindex\r\nX-Robots-Tag: noindex", False),
        ("X-Robots-Tag: max-snippet: 5, noindex", False),
        ("X-Robots-Tag: unavailable_after: Fri, 25 Jun 2027 15:00:00 PST, noindex", False),
    ],
)
def test_robots_header_of_another_crawler_does_not_count(
    site: LocalSite, headers: str, indexed: bool
) -> None:
    site.book("a", "b")
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n\r\n"
    site.pages["/docs/b"] = lambda request: request.raw(head.encode(), page("B").encode())
    assert ("/docs/b" in crawl(site)[0]) == indexed


def test_repeated_robots_headers_all_count(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/docs/b"] = lambda request: request.raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
        b"X-Robots-Tag: noindex\r\nX-Robots-Tag: nofollow\r\n\r\n",
        page("B").encode(),
    )
    assert list(crawl(site)[0]) == ["/docs/a"]


def test_relative_addresses_in_a_sitemap_are_resolved(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/sitemap.xml"] = "<urlset><url><loc>/docs/a</loc></url><url><loc>docs/b</loc></url></urlset>"
    assert list(crawl(site)[0]) == ["/docs/a", "/docs/b"]


def test_translations_in_a_sitemap_are_not_kept(site: LocalSite) -> None:
    """Each page may list 200 addresses of 2,000 characters."""
    others = "".join(f'<x:link hreflang="l{n}" href="{site.address}/{n}/{"a" * 1900}"/>' for n in range(150))
    default = f'<x:link hreflang="x-default" href="{site.address}/docs/0"/>'
    listed = "".join(
        f'<url><loc>{site.address}/docs/{n}</loc><x:link hreflang="fr" href="{site.address}/docs/{n}"/>'
        f"{default}{others}</url>"
        for n in range(20)
    )
    site.pages["/sitemap.xml"] = f'<urlset xmlns:x="http://www.w3.org/1999/xhtml">{listed}</urlset>'
    scope = open_scope(site.address + "/")
    with Fetcher(scope, FAST_LIMITS) as fetcher:
        translations = discover_pages(scope, fetcher, FAST_LIMITS).translations
    assert len(translations) == 19
    assert set(translations.values()) == {Translation("fr", f"{site.address}/docs/0")}
