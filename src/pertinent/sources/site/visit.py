"""One visit: an address is fetched and read, or what came of it instead. Runs on many threads at once."""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import blake2b

from .addresses import Site
from .crawl_cache import Memory, Visit
from .fetch import Fetcher, Gone, Unfetchable
from .frontier import Item
from .parsing import NotHtml, Reading, packed, read


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a visit: a reading, news that nothing changed, or the reason why neither."""

    address: str = ""
    """Where the page was in the end."""
    url: str = ""
    """What the page there is known by."""
    reading: Reading | None = None
    packed: bytes = b""
    visit: Visit | None = None
    unchanged: bool = False
    gone: bool = False
    reason: str = ""
    silent: bool = False
    """Whether the site did not answer."""
    no_page: bool = False
    """Whether it says of itself that it is something else."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Visits addresses of one site."""

    site: Site
    fetcher: Fetcher
    memory: Memory
    links: bool
    """Whether links are wanted too."""

    def visit(self, item: Item) -> Outcome:
        """Fetch and read; whatever goes wrong is the outcome of this page alone."""
        try:
            return self._visit(item)
        except Gone as error:
            return Outcome(gone=True, reason=str(error))
        except Unfetchable as error:
            return Outcome(reason=str(error), silent=error.silent)
        except NotHtml as error:
            return Outcome(reason=str(error), no_page=error.honest)

    def _visit(self, item: Item) -> Outcome:
        memory = self.memory
        if memory.fresh(way := memory.way(item.url)):
            return Outcome(self.site.address(way) or item.address, way, unchanged=True)

        def url_of(address: str) -> str:
            return item.url if address == item.address else self.site.url(address) or address

        answer = self.fetcher.get(item.address, lambda address: memory.conditions(url_of(address)))
        url = url_of(answer.address)
        if answer.unchanged:
            return Outcome(answer.address, url, unchanged=True)
        digest = blake2b(answer.body, digest_size=16).digest()
        sent = answer.headers
        visit = Visit(sent.get("etag", ""), sent.get("last-modified", ""), digest, time.time())
        if memory.same(url, digest):
            return Outcome(answer.address, url, visit=visit, unchanged=True)
        reading = read(answer.body, sent, answer.address, links=self.links)
        return Outcome(answer.address, url, reading, packed(reading), visit)
