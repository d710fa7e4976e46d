"""`pertinent index ADDRESS` and `pertinent doctor --links`, against a site on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pertinent.sources.site.limits import YEAR
from pertinent.surfaces.cli.index import MAX_SECONDS

from ..sources.site.server import LocalSite, page, served
from .conftest import Run


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalSite]:
    monkeypatch.setenv("no_proxy", "*")
    with served() as up:
        up.pages["/docs/nodes"] = page("Nodes", "<h2 id='topics'>Topics</h2><p>Nodes publish messages.</p>")
        up.pages["/docs/joints"] = page("Joints", "<p>A revolute joint has limits for its angle.</p>")
        up.pages["/blog/news"] = page("News", "<p>The robot walks since Monday.</p>")
        up.sitemap("/docs/nodes", "/docs/joints", "/blog/news")
        yield up


def urls(run: Run) -> set[str]:
    listed = json.loads(run("list", "--json").stdout)
    return {page["url"] for page in listed["pages"]}


def test_index_reads_a_live_site(run: Run, site: LocalSite) -> None:
    run("index", site.address, exits=0)
    response = json.loads(run("search", "nodes publish", "--json").stdout)
    assert response["results"][0]["url"] == f"{site.address}/docs/nodes"
    assert response["results"][0]["anchor"] == "topics"


def test_index_exclude_leaves_pages_out(run: Run, site: LocalSite) -> None:
    assert run("index", site.address, "--exclude", "/blog", "--exclude", "/docs/joints").exit_code == 0
    assert urls(run) == {f"{site.address}/docs/nodes"}


def test_index_include_reads_only_those_pages(run: Run, site: LocalSite) -> None:
    assert run("index", site.address, "--include", "/docs/*").exit_code == 0
    assert urls(run) == {f"{site.address}/docs/nodes", f"{site.address}/docs/joints"}


def test_index_reads_requested_versions_and_locales(run: Run, site: LocalSite) -> None:
    site.pages["/docs/next/nodes"] = page("Nodes to come")
    site.pages["/fr/docs/nodes"] = page("Noeuds", lang="fr")
    site.sitemap("/docs/nodes", "/docs/next/nodes", "/fr/docs/nodes")
    result = run("index", site.address, exits=0)
    assert "skipped: 2 pages (of another version or language" in result.stdout
    assert urls(run) == {f"{site.address}/docs/nodes"}
    result = run("index", site.address, "--versions", "next", "--locales", "fr", exits=0)
    assert "skipped" not in result.stdout
    assert urls(run) == {f"{site.address}{path}/nodes" for path in ("/docs", "/docs/next", "/fr/docs")}


def test_index_base_url_gives_public_urls(run: Run, site: LocalSite) -> None:
    assert run("index", f"{site.address}/docs", "--base-url", "https://book.example/docs").exit_code == 0
    assert urls(run) == {"https://book.example/docs/nodes", "https://book.example/docs/joints"}


def test_index_dry_run_of_a_site_changes_nothing(run: Run, site: LocalSite) -> None:
    run("index", site.address)
    del site.pages["/blog/news"]
    before = urls(run)
    dry_run = run("index", site.address, "--dry-run", "--allow-shrink", exits=0)
    assert "removed" in dry_run.stdout.lower()
    assert urls(run) == before


def test_index_dry_run_without_an_index_creates_no_file(run: Run, site: LocalSite) -> None:
    assert run("index", site.address, "--dry-run").exit_code == 0
    assert not (Path.cwd() / ".pertinent").exists()


def test_index_reports_and_keeps_failing_pages(run: Run, site: LocalSite) -> None:
    run("index", site.address)
    site.pages["/docs/joints"] = lambda request: request.send(status=403)
    result = run("index", site.address, exits=1)
    assert "1 page could not be indexed" in result.stderr
    assert "/docs/joints" in result.stderr
    assert f"{site.address}/docs/joints" in urls(run)


def test_index_with_a_page_limit_removes_nothing(run: Run, site: LocalSite) -> None:
    run("index", site.address)
    result = run("index", site.address, "--max-pages", "1", exits=1)
    assert "1 page" in result.stderr
    assert len(urls(run)) == 3


def test_index_does_not_download_unchanged_pages(run: Run, site: LocalSite) -> None:
    run("index", site.address)
    site.clear_requests()
    assert run("index", site.address).exit_code == 0
    headers = dict(zip(site.requested_paths, site.request_headers, strict=True))
    assert all("if-none-match" in headers[path] for path in ("/docs/nodes", "/docs/joints", "/blog/news"))


@pytest.mark.parametrize("option", [["--include", "/docs/*"], ["--max-pages", "5"], ["--locales", "all"]])
def test_index_refuses_crawl_options_for_a_folder(run: Run, docs: Path, option: list[str]) -> None:
    result = run("index", docs, *option, exits=2)
    assert "not a live site" in result.stderr


def test_index_of_a_site_that_is_down_changes_nothing(run: Run, site: LocalSite) -> None:
    run("index", site.address)
    before = urls(run)
    site.pages["/robots.txt"] = lambda request: request.send(status=503, headers={"Retry-After": "0"})
    result = run("index", site.address)
    assert result.exit_code != 0
    assert "robots.txt" in result.stderr
    assert urls(run) == before


def test_doctor_finds_broken_links(run: Run, site: LocalSite) -> None:
    run("index", site.address)
    sound = run("doctor", "--links", exits=0)
    assert "exist" in sound.stdout
    site.pages["/docs/nodes"] = page("Nodes", "<h2 id='messages'>Messages</h2><p>Nodes publish messages.</p>")
    del site.pages["/blog/news"]
    broken = run("doctor", "--links", exits=1)
    output = " ".join(broken.stdout.split())
    assert f"{site.address}/docs/nodes#topics: the page has no #topics" in output
    assert f"{site.address}/blog/news" in output


def test_doctor_separates_broken_links_from_unreachable_pages(run: Run, site: LocalSite) -> None:
    run("index", site.address)
    site.pages["/docs/joints"] = lambda request: request.send(status=403)
    result = run("doctor", "--links", "--json", exits=3)
    (links,) = [check for check in json.loads(result.stdout)["checks"] if check["name"] == "links"]
    assert [finding["run"] for finding in links["findings"]] == ["run this again when the site answers"]


def test_doctor_groups_unreachable_pages_by_reason(run: Run, site: LocalSite) -> None:
    run("index", site.address)
    del site.pages["/blog/news"]
    for name in ("joints", "nodes"):
        site.pages[f"/docs/{name}"] = lambda request: request.send(status=403)
    result = run("doctor", "--links", "--json")
    (links,) = [check for check in json.loads(result.stdout)["checks"] if check["name"] == "links"]
    assert [finding["problem"] for finding in links["findings"]] == [
        f"{site.address}/blog/news: answers HTTP 404",
        f"{site.address}/docs/joints and 1 more: answers HTTP 403",
    ]


def test_doctor_checks_links_on_a_copy_of_the_site(run: Run, site: LocalSite) -> None:
    run("index", f"{site.address}/docs", "--base-url", "https://book.example/docs")
    at = f"{site.address}/docs"
    sound = run("doctor", "--links", "--at", at, "--base-url", "https://book.example/docs")
    assert sound.exit_code == 0, sound.output


def test_doctor_links_skips_pages_that_are_not_on_the_web(run: Run, docs: Path) -> None:
    run("index", docs)
    result = run("doctor", "--links", exits=0)
    assert "no page has a web address" in result.stdout


def test_index_separates_failed_pages_from_unknown_ones(run: Run, site: LocalSite) -> None:
    run("index", site.address)
    site.pages["/docs/joints"] = lambda request: request.send(status=403)
    result = run("index", site.address)
    assert "1 page could not be indexed; an indexed version, if there is one, is kept:" in result.stderr
    assert "not removed" not in result.stderr
    result = run("index", site.address, "--max-pages", "1")
    assert "The list of pages is incomplete, so missing pages are not removed:" in result.stderr
    assert "could not be indexed" not in result.stderr


def test_cli_year_equals_that_of_the_crawl_limits() -> None:
    assert MAX_SECONDS == YEAR


def test_index_reports_a_missing_version(run: Run, site: LocalSite) -> None:
    result = run("index", site.address, "--versions", "9.9")
    assert "version 9.9: the site does not have it" in result.stdout


def test_index_reports_a_truncated_page(run: Run, site: LocalSite) -> None:
    site.pages["/docs/joints"] = page("Joints", "<p>x</p>" * 120_000)
    result = run("index", site.address, exits=0)
    assert "skipped: 1 page (in part: too large to be read completely, such as http" in result.stdout
