"""Pages that wait for the end of a crawl are on disk."""

from __future__ import annotations

import random
import tempfile
import tracemalloc
from pathlib import Path

import pytest

from pertinent.errors import SourceError
from pertinent.sources.site import SiteSource
from pertinent.sources.site.crawl_spool import CrawlSpool
from pertinent.sources.site.parsing import parse_page
from pertinent.types import LazyPage

from .conftest import FAST_LIMITS
from .server import LocalSite, links, page


def test_spooled_pages_are_read_back() -> None:
    spool = CrawlSpool()
    pages = [
        parse_page(page(title).encode(), {"content-type": "text/html"}, "http://x.example/", with_links=True)
        for title in ("One", "Two", "Three")
    ]
    spooled = [spool.add(parsed) for parsed in pages]
    assert [spool.read(place) for place in reversed(spooled)] == pages[::-1]
    spool.close()


@pytest.mark.parametrize("kind", ["version", "alias"])
def test_waiting_pages_are_not_in_memory(site: LocalSite, kind: str) -> None:
    """Random words, because others would be compressed to nothing."""
    words = random.Random(7)  # noqa: S311 - text, not a secret
    folder = "1.x" if kind == "version" else "x"
    paths = [f"/{folder}/p{'x' * number}" for number in range(1, 31)]
    for path in paths:
        text = " ".join(f"{words.getrandbits(64):x}" for _ in range(20_000))
        head = f'<link rel="canonical" href="{path}/missing">' if kind == "alias" else ""
        site.pages[path] = page(path, f"<p>{text}</p>", head=head)
    site.pages["/"] = page("Home", links(*paths))
    tracemalloc.start()
    try:
        pages = SiteSource(f"{site.address}/", limits=FAST_LIMITS).read()
        held = [tracemalloc.get_traced_memory()[0] for page in pages if isinstance(page, LazyPage)]
    finally:
        tracemalloc.stop()
    assert len(held) == 31
    # The start page comes while others are fetched. The waiting ones have about 5 MB together, compressed.
    assert max(held[1:]) < 3_000_000


def test_full_disk_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """`/dev/full` is a disk without space."""
    full = Path("/dev/full").open("r+b", buffering=0)  # noqa: SIM115 - `close` of the spool closes it
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: full)
    spool = CrawlSpool()
    parsed = parse_page(
        page("One").encode(), {"content-type": "text/html"}, "http://x.example/", with_links=True
    )
    with pytest.raises(SourceError, match="No space left on device; free space, or set TMPDIR"):
        spool.add(parsed)
    spool.close()


def test_unusable_folder_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError, match=f"crawled pages .* No such file .*; free space in {tmp_path}/gone"):
        CrawlSpool(tmp_path / "gone")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(SourceError, match="No such file or directory; free space, or set TMPDIR"):
        CrawlSpool()


def test_waiting_pages_are_on_the_disk_of_the_crawl_cache(
    site: LocalSite, cache_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's folder for temporary files may be in memory; here it does not exist."""
    monkeypatch.setattr(tempfile, "tempdir", str(cache_file.parent / "gone"))
    site.pages["/"] = page("Home", links("/x/a"))
    site.pages["/x/a"] = page("A", "<p>Text.</p>", head='<link rel="canonical" href="/missing">')
    results = SiteSource(f"{site.address}/", limits=FAST_LIMITS, cache_file=cache_file).read()
    assert len([result for result in results if isinstance(result, LazyPage)]) == 2
