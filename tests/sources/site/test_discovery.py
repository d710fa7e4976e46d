"""Which pages a crawl finds: by robots.txt, sitemaps and links."""

from __future__ import annotations

import gzip
import time
from dataclasses import replace

import pytest

from pertinent.errors import SourceError
from pertinent.sources.site import SiteSource
from pertinent.types import Offer, PassedOver

from .conftest import FAST_LIMITS, crawl
from .server import LocalSite, doc, links, page, sitemap, sitemap_index


def test_the_pages_of_a_sitemap_come_in_its_order(site: LocalSite) -> None:
    site.book("zebra", "apple", "mango")
    pages, unreadable = crawl(site)
    assert list(pages) == ["/docs/zebra", "/docs/apple", "/docs/mango"]
    assert unreadable == []
    found = pages["/docs/apple"]
    assert (found.title, found.url) == ("Apple", f"{site.address}/docs/apple")
    assert (found.source_type, found.slug) == ("web-page", "docs-apple")
    assert "This page is about apple." in found.text


def test_the_total_is_known_from_the_sitemap_and_each_page_is_fetched_once(site: LocalSite) -> None:
    site.book("a", "b", "c")
    source = SiteSource(site.address, limits=FAST_LIMITS)
    assert source.total == 3
    assert len(list(source.read())) == 3
    assert sorted(site.requested_paths) == ["/docs/a", "/docs/b", "/docs/c", "/robots.txt", "/sitemap.xml"]


def test_a_source_can_be_read_again(site: LocalSite) -> None:
    site.book("a", "b")
    source = SiteSource(site.address, limits=FAST_LIMITS)
    assert list(source.read()) == list(source.read())


def test_robots_txt_names_the_sitemap(site: LocalSite) -> None:
    site.book("a")
    site.pages["/maps/all.xml"] = site.pages.pop("/sitemap.xml")
    site.pages["/robots.txt"] = f"User-agent: *\nSitemap: {site.address}/maps/all.xml\n"
    assert list(crawl(site)[0]) == ["/docs/a"]


def test_a_sitemap_index_and_its_compressed_parts_are_read(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/one.xml"] = site.pages["/sitemap.xml"]
    site.pages["/c"] = page("C")
    site.pages["/two.xml.gz"] = gzip.compress(sitemap(f"{site.address}/c").encode())
    site.pages["/sitemap.xml"] = sitemap_index(f"{site.address}/one.xml", f"{site.address}/two.xml.gz")
    assert list(crawl(site)[0]) == ["/docs/a", "/docs/b", "/c"]


def test_the_address_of_a_sitemap_may_be_the_start(site: LocalSite) -> None:
    site.book("a")
    site.sitemap("/docs/a", at="/maps/docs.xml")
    assert list(crawl(site, "/maps/docs.xml")[0]) == ["/docs/a"]
    assert SiteSource(f"{site.address}/maps/docs.xml").name == f"{site.address}/maps"


def test_the_sitemap_of_a_folder_above_the_start_is_found(site: LocalSite) -> None:
    site.pages |= {"/project/docs/a": page("A"), "/project/blog/b": page("B")}
    site.sitemap("/project/docs/a", "/project/blog/b", at="/project/sitemap.xml")
    assert list(crawl(site, "/project/docs/")[0]) == ["/project/docs/a"]


def test_without_a_sitemap_links_below_the_start_are_followed(site: LocalSite) -> None:
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


def test_links_on_what_is_no_page_are_followed_too(site: LocalSite) -> None:
    home = page("Home", links("/a"), head='<meta name="robots" content="noindex">')
    site.pages |= {"/": home, "/a": page("A")}
    assert list(crawl(site)[0]) == ["/a"]


def test_what_robots_txt_forbids_is_left_alone(site: LocalSite) -> None:
    site.book("a", "secret", "search")
    site.pages["/robots.txt"] = (
        "User-agent: *\nDisallow: /\n\nUser-agent: Pertinent\nDisallow: /*secret\nDisallow: /docs/search$\n"
    )
    assert list(crawl(site)[0]) == ["/docs/a"]
    assert not {"/docs/secret", "/docs/search"} & set(site.requested_paths)


def test_a_redirect_to_what_robots_txt_forbids_is_not_followed(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /private\n"
    site.pages["/docs/b"] = lambda request: request.send(status=302, headers={"Location": "/private"})
    assert list(crawl(site)[0]) == ["/docs/a"]
    assert "/private" not in site.requested_paths


def test_a_site_that_forbids_its_start_says_so(site: LocalSite) -> None:
    site.pages |= {"/": page("Home"), "/robots.txt": "User-agent: *\nDisallow: /\n"}
    with pytest.raises(SourceError, match=r"robots\.txt"):
        crawl(site)


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_without_a_robots_txt_all_is_allowed(site: LocalSite, status: int) -> None:
    site.book("a")
    site.pages["/robots.txt"] = lambda request: request.send(status=status)
    assert list(crawl(site)[0]) == ["/docs/a"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_robots_txt_that_fails_forbids_the_crawl(site: LocalSite, status: int) -> None:
    site.book("a")
    site.pages["/robots.txt"] = lambda request: request.send(status=status)
    with pytest.raises(SourceError, match=rf"robots.txt answers HTTP {status}"):
        crawl(site)
    assert "/docs/a" not in site.requested_paths


def test_the_delay_that_robots_txt_asks_for_is_kept(site: LocalSite) -> None:
    site.book(*"abcd")
    site.pages["/robots.txt"] = "User-agent: *\nCrawl-delay: 0.1\n"
    start = time.monotonic()
    assert len(crawl(site)[0]) == 4
    assert time.monotonic() - start >= 0.3


def test_we_say_who_we_are(site: LocalSite) -> None:
    site.book("a")
    crawl(site)
    assert {one["user-agent"] for one in site.request_headers} == {"Pertinent/0.1.0 (+documentation indexer)"}
    assert {one["accept-encoding"] for one in site.request_headers} == {"gzip, deflate"}


def test_patterns_choose_pages_before_they_are_fetched(site: LocalSite) -> None:
    site.book("a", "b", "old-a")
    assert list(crawl(site, exclude=("/docs/old-*",))[0]) == ["/docs/a", "/docs/b"]
    assert "/docs/old-a" not in site.requested_paths
    assert list(crawl(site, include=("*/b",))[0]) == ["/docs/b"]


@pytest.mark.parametrize("start", [True, False])
def test_where_patterns_let_no_listed_page_in_it_is_said(site: LocalSite, start: bool) -> None:
    site.book("a", "b", "c")
    if start:
        site.pages["/"] = page("Start")
    with pytest.raises(
        SourceError, match=r"the patterns and robots\.txt exclude all 3 pages of its sitemaps"
    ):
        crawl(site, include=("/nothing/*",))


def test_where_the_wanted_pages_are_gone_patterns_are_not_blamed(site: LocalSite) -> None:
    site.book("a", "b")
    del site.pages["/docs/a"]
    with pytest.raises(
        SourceError,
        match=r"no pages found at .* \(1 answers HTTP 404, such as .*/docs/a\); nothing was changed",
    ):
        crawl(site, exclude=("/docs/b",))


def test_a_base_url_for_another_folder_than_the_start_is_told_where_pages_are_gone(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/sitemap.xml"] = sitemap("https://h.example/docs/a", "https://h.example/docs/b")
    with pytest.raises(SourceError) as failure:
        list(SiteSource(f"{site.address}/docs/", base_url="https://h.example", limits=FAST_LIMITS).read())
    at = f"{site.address}/docs"
    assert f"(2 answers HTTP 404, such as {at}/docs/a; --base-url replaces {at} by https://h.example)" in str(
        failure.value
    )


def test_a_sitemap_of_another_host_is_told_where_links_are_followed_instead(site: LocalSite) -> None:
    site.pages["/"] = page("Start", links("/docs/a"))
    site.pages["/docs/a"] = page("A")
    site.pages["/sitemap.xml"] = sitemap("https://h.example/docs/a", "https://h.example/docs/b")
    found = list(SiteSource(site.address, limits=FAST_LIMITS).read())
    assert (
        PassedOver(
            "listed on another host, such as https://h.example/docs/a; if this is a copy of that site, give "
            "its address with --base-url",
            2,
        )
        in found
    )
    assert sum(isinstance(one, Offer) for one in found) == 2
    del site.pages["/"]
    with pytest.raises(
        SourceError, match=r"404; its sitemap lists https://h\.example/docs/a; if this is a copy"
    ):
        crawl(site)


def test_a_part_of_a_sitemap_on_another_host_is_told(site: LocalSite) -> None:
    site.book("a")
    site.pages["/parts.xml"] = site.pages["/sitemap.xml"]
    site.pages["/sitemap.xml"] = sitemap_index(f"{site.address}/parts.xml", "https://h.example/more.xml")
    found = list(SiteSource(site.address, limits=FAST_LIMITS).read())
    (told,) = [one for one in found if isinstance(one, PassedOver)]
    assert (told.pages, "such as https://h.example/more.xml" in told.reason) == (1, True)


def test_a_sitemap_that_robots_txt_names_on_another_host_is_told(site: LocalSite) -> None:
    site.pages["/"] = page("Start")
    site.pages["/robots.txt"] = "User-agent: *\nSitemap: https://h.example/sitemap.xml\n"
    found = list(SiteSource(site.address, limits=FAST_LIMITS).read())
    (told,) = [one for one in found if isinstance(one, PassedOver)]
    assert "such as https://h.example/sitemap.xml" in told.reason


def test_an_older_version_that_names_the_newest_as_canonical_is_read_where_it_is_asked_for(
    site: LocalSite,
) -> None:
    for version in ("stable", "1.0"):
        for name in "abc":
            canonical = f'<link rel="canonical" href="{site.address}/en/stable/{name}">'
            body = f"<p>This is {name} of {version}.</p>"
            site.pages[f"/en/{version}/{name}"] = page(name, body, head=canonical)
    site.sitemap(*(path for path in site.pages))
    assert len(crawl(site)[0]) == 3
    assert len(crawl(site, versions=("1.0",))[0]) == 6


def test_versions_side_by_side_are_told_apart_by_links_too(site: LocalSite) -> None:
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


def test_pages_that_lead_to_one_that_others_lead_to_are_counted(site: LocalSite) -> None:
    site.book("a", "b", "c")
    for name in "abc":
        site.pages[f"/docs/{name}"] = lambda r: r.send(status=302, headers={"Location": "/docs/login"})
    site.pages["/docs/login"] = page("Log in")
    found = list(SiteSource(site.address, limits=FAST_LIMITS).read())
    assert sum(isinstance(one, Offer) for one in found) == 1
    (told,) = [one for one in found if isinstance(one, PassedOver)]
    there = f"{site.address}/docs/"
    assert (told.pages, told.reason) == (2, f"redirected to {there}login, as others are, such as {there}b")


def test_one_page_has_one_url(site: LocalSite) -> None:
    site.pages |= {
        path: page("A") for path in ("/a", "/a/", "/a/index.html", "/a?utm_source=mail", "/a?fbclid=1#x")
    }
    site.sitemap("/a/", "/a", "/a/index.html", "/a?utm_source=mail", "/a?fbclid=1#x")
    pages, _ = crawl(site)
    assert list(pages) == ["/a"]
    assert [path for path in site.requested_paths if path.startswith("/a")] == ["/a/"]


def test_a_page_that_names_another_as_canonical_is_left_to_it(site: LocalSite) -> None:
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
def test_a_template_that_names_the_home_page_everywhere_loses_no_page(
    site: LocalSite, number: int, titled: str
) -> None:
    names = [f"p{place}" for place in range(number)]
    for name in names:
        body = f"<p>This page is about {name}.</p>"
        site.pages[f"/{name}"] = page(titled.format(name), body, head='<link rel="canonical" href="/">')
    site.pages["/"] = page("Home")
    site.sitemap("/", *(f"/{name}" for name in names))
    assert len(crawl(site)[0]) == number + 1


def test_addresses_of_one_page_are_that_page(site: LocalSite) -> None:
    html = page("Guide", head='<link rel="canonical" href="/guide">')
    site.pages |= dict.fromkeys(("/guide", "/guide/print", "/guide?sort=up", "/guide?sort=down"), html)
    site.sitemap("/guide/print", "/guide?sort=up", "/guide?sort=down")
    assert list(crawl(site)[0]) == ["/guide"]


def test_pages_that_ask_not_to_be_found_are_passed_over(site: LocalSite) -> None:
    site.book("a", "b", "c")
    site.pages["/docs/b"] = page("B", head='<meta name="robots" content="noindex, follow">')
    site.pages["/docs/c"] = lambda request: request.send(page("C"), headers={"X-Robots-Tag": "noindex"})
    shown = {"X-Robots-Tag": "max-image-preview:none"}
    site.pages["/docs/a"] = lambda request: request.send(page("A"), headers=shown)
    assert list(crawl(site)[0]) == ["/docs/a"]


def test_a_page_that_only_leads_to_another_is_followed_and_no_page(site: LocalSite) -> None:
    site.pages["/"] = page("Redirecting …", head='<meta http-equiv="refresh" content="1; url=latest/">')
    site.pages["/latest/"] = page("Latest")
    assert list(crawl(site)[0]) == ["/latest"]


def test_a_site_without_pages_is_an_error_that_says_why(site: LocalSite) -> None:
    site.book("a")
    site.pages["/docs/a"] = page("A", head='<meta name="robots" content="noindex">')
    with pytest.raises(SourceError, match=r"no pages found.*1 noindex"):
        crawl(site)


def test_the_current_version_is_read_and_others_when_asked_for(site: LocalSite) -> None:
    for path, name, version in (
        ("/docs/", "intro", "2.0"),
        ("/docs/a", "a", "2.0"),
        ("/docs/next/", "intro", "current"),
        ("/docs/next/a", "a", "current"),
        ("/docs/1.0/a", "a", "1.0"),
    ):
        site.pages[path] = doc(name, f"{name} {version}", version=version)
    site.sitemap("/docs/", "/docs/a", "/docs/next/", "/docs/next/a", "/docs/1.0/a")
    pages, _ = crawl(site)
    assert {one.url.removeprefix(site.address): one.slug for one in pages.values()} == {
        "/docs/a": "a",
        "/docs": "intro",
    }
    assert "/docs/1.0/a" not in site.requested_paths
    more, _ = crawl(site, versions=("next",))
    assert sorted(more) == ["/docs", "/docs/a", "/docs/next", "/docs/next/a"]
    assert more["/docs/next/a"].slug == "a"
    assert sorted(crawl(site, "/docs/1.0/")[0]) == ["/docs/1.0/a"]


def test_translations_are_passed_over_when_links_are_followed(site: LocalSite) -> None:
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


def test_translations_are_passed_over_in_a_sitemap(site: LocalSite) -> None:
    for path in ("/cs/a", "/cs/b", "/a", "/b", "/go/a", "/go/b"):
        site.pages[path] = page(path, lang="cs" if path.startswith("/cs") else "en")
    site.sitemap("/cs/a", "/cs/b", "/go/a", "/go/b", "/a", "/b")
    assert sorted(crawl(site, limits=replace(FAST_LIMITS, connections=1))[0]) == [
        "/a",
        "/b",
        "/go/a",
        "/go/b",
    ]
    assert sorted(crawl(site, "/cs/")[0]) == ["/cs/a", "/cs/b"]
    assert len(crawl(site, locales=("all",))[0]) == 6


def test_a_start_that_leads_out_of_its_own_path_says_where_to(site: LocalSite) -> None:
    site.pages["/docs"] = lambda r: r.send(status=302, headers={"Location": "/manual/"})
    site.pages["/manual/"] = page("Manual")
    with pytest.raises(
        SourceError, match=rf"1 redirected to {site.address}/manual/.*Start at {site.address}/manual/ instead"
    ):
        crawl(site, "/docs")


def test_a_copy_of_a_site_has_the_addresses_of_the_original(site: LocalSite) -> None:
    site.pages |= {
        "/docs/a": page("A", links("/docs/b"), head='<link rel="canonical" href="https://h.example/docs/a">'),
        "/docs/b": page("B", links("http://h.example/docs/a")),
        "/sitemap.xml": sitemap("https://h.example/docs/a", "https://h.example/docs/b/"),
        "/docs/b/": page("B"),
    }
    pages, unreadable = crawl(site, base_url="https://h.example")
    assert [one.url for one in pages.values()] == ["https://h.example/docs/a", "https://h.example/docs/b"]
    assert unreadable == []
    assert SiteSource(site.address, base_url="https://h.example/").name == "https://h.example"


def test_a_sitemap_of_another_host_is_as_good_as_none(site: LocalSite) -> None:
    site.pages |= {"/": page("Home", links("/a")), "/a": page("A")}
    site.pages["/sitemap.xml"] = sitemap("https://h.example/a", "https://h.example/b")
    assert list(crawl(site)[0]) == ["/", "/a"]
    with pytest.raises(SourceError, match="--base-url"):
        crawl(site, "/sitemap.xml")


def test_depth_and_number_are_bounded_where_links_are_followed(site: LocalSite) -> None:
    for number in range(9):
        site.pages[f"/{'x' * number}"] = page(f"P{number}", links(f"/{'x' * (number + 1)}"))
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, depth=3))
    assert len(pages) == 4
    assert [(one.named, "3 links away" in one.reason) for one in unreadable] == [(False, True)]
    pages, unreadable = crawl(site, limits=replace(FAST_LIMITS, pages=2))
    assert len(pages) == 2
    assert [(one.named, "more than 2 pages" in one.reason) for one in unreadable] == [(False, True)]


def test_the_number_of_pages_is_that_of_the_wanted_ones(site: LocalSite) -> None:
    names = [f"/{folder}/{name}" for folder in ("blog", "docs/1.x", "docs") for name in "abcd"]
    site.pages |= {name: page(name) for name in names}
    site.sitemap(*names)
    pages, unreadable = crawl(site, "/docs", limits=replace(FAST_LIMITS, pages=4))
    assert (sorted(pages), unreadable) == ([f"/docs/{name}" for name in "abcd"], [])
    pages, unreadable = crawl(site, "/docs", limits=replace(FAST_LIMITS, pages=3))
    assert sorted(pages) == [f"/docs/{name}" for name in "abc"]
    assert [(one.named, "more than 3 pages" in one.reason) for one in unreadable] == [(False, True)]


def test_links_lead_on_from_a_start_that_a_pattern_leaves_out(site: LocalSite) -> None:
    site.pages |= {"/": page("Start", links("/guide/a", "/blog")), "/guide/a": page("A"), "/blog": page("B")}
    assert list(crawl(site, include=("/guide/*",))[0]) == ["/guide/a"]
    assert "/blog" not in site.requested_paths
    with pytest.raises(SourceError, match="1 excluded by --include or --exclude"):
        crawl(site, include=("/nothing/*",))


def test_a_header_that_comes_twice_is_believed_twice(site: LocalSite) -> None:
    site.book("a", "b")
    site.pages["/docs/b"] = lambda request: request.raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
        b"X-Robots-Tag: noindex\r\nX-Robots-Tag: nofollow\r\n\r\n",
        page("B").encode(),
    )
    assert list(crawl(site)[0]) == ["/docs/a"]
