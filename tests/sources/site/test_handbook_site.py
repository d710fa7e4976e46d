"""The handbook, built by the real Docusaurus and served: crawled, searched and validated as from source."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pertinent.health import links
from pertinent.sources.site.anchors import SiteAnchors
from pertinent.surfaces.library import Pertinent
from pertinent.types import readable_chunks

from ..docusaurus_build import BOOK

PUBLIC = "https://handbook.example/docs"
GOLDEN = BOOK / "golden.yaml"

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cached_vectors")]


class Quiet(SimpleHTTPRequestHandler):
    """Files as any static host serves them, with redirects to the closing slash."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its own name for it
        """Nobody reads it."""


@pytest.fixture(scope="module")
def address(built_handbook: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(built_handbook))) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/docs"
        server.shutdown()


@pytest.fixture(scope="module")
def from_source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pertinent]:
    with Pertinent.open(tmp_path_factory.mktemp("source")) as pertinent:
        pertinent.index(BOOK)
        yield pertinent


@pytest.fixture(scope="module")
def from_site(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pertinent]:
    with pytest.MonkeyPatch.context() as patch, Pertinent.open(tmp_path_factory.mktemp("site")) as pertinent:
        patch.setenv("no_proxy", "*")
        summary = pertinent.index(address, base_url=PUBLIC)
        assert not summary.unreadable
        yield pertinent


def test_built_site_has_ids_urls_and_titles_of_the_source(
    from_source: Pertinent, from_site: Pertinent
) -> None:
    source, site = (
        {(page.document_id, page.url, page.title) for page in pertinent.workspace.catalog().pages()}
        for pertinent in (from_source, from_site)
    )
    assert source == site


def test_built_site_has_the_front_matter_of_the_source(from_source: Pertinent, from_site: Pertinent) -> None:
    source, site = (
        {
            record.document_id: page.front_matter
            for record in pertinent.workspace.catalog().pages()
            if (page := pertinent.workspace.catalog().page(record.document_id))
        }
        for pertinent in (from_source, from_site)
    )
    assert source == site
    assert any(front_matter.description for front_matter in source.values())


def test_built_site_has_the_passages_of_the_source(from_source: Pertinent, from_site: Pertinent) -> None:
    for question in ("How do ROS 2 nodes communicate?", "What limits a joint?", "inflation radius"):
        source, site = (
            [(hit.chunk.chunk_id, hit.chunk.url, hit.chunk.anchor) for hit in pertinent.search(question).hits]
            for pertinent in (from_source, from_site)
        )
        assert source == site


def test_built_site_gets_the_same_verdict(from_source: Pertinent, from_site: Pertinent) -> None:
    source, site = (pertinent.validate(GOLDEN, audit=True) for pertinent in (from_source, from_site))
    assert site.verdict == source.verdict == "PASS"
    assert not site.label_faults
    assert site.mrr == pytest.approx(source.mrr, abs=0.02)
    assert site.avg_precision_at_5 == pytest.approx(source.avg_precision_at_5, abs=0.02)


def test_citations_of_the_source_exist_on_the_built_pages(
    from_source: Pertinent, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    chunks = list(readable_chunks(from_source.workspace.index().scan()))
    pages = links.group_web_citations((chunk.url, chunk.anchor) for chunk in chunks)
    with SiteAnchors(address, PUBLIC) as anchors_of:
        assert links.find_broken_links(pages, anchors_of) == []
    assert sum(map(len, pages.values())) > 100


def test_switch_from_source_to_built_site_embeds_almost_nothing(
    from_source: Pertinent, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    plan = from_source.plan(address, base_url=PUBLIC)
    assert not plan.removed
    chunks = sum(change.chunks for change in plan.changes)
    assert plan.chunks_to_embed <= chunks // 100
