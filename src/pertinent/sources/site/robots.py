"""robots.txt: what a site lets us fetch, how slowly, and where it says its sitemaps are."""

from __future__ import annotations

from dataclasses import dataclass

from protego import Protego

from ...errors import SourceError
from .addresses import Site
from .fetch import PRODUCT, Bounds, Fetcher, Gone, Unfetchable

SIZE = 5 * 2**20
"""How large a robots.txt may be; RFC 9309 asks for a tenth of it."""


@dataclass(frozen=True, slots=True)
class Robots:
    """What robots.txt says to us."""

    rules: Protego | None
    """None where there is no robots.txt: all is allowed."""

    def allows(self, address: str) -> bool:
        return self.rules is None or bool(self.rules.can_fetch(address, PRODUCT))

    @property
    def delay(self) -> float:
        """Seconds between two requests."""
        return float(self.rules.crawl_delay(PRODUCT) or 0.0) if self.rules else 0.0

    @property
    def sitemaps(self) -> list[str]:
        return list(self.rules.sitemaps) if self.rules else []


def parse(text: str) -> Robots:
    """The rules in the text of a robots.txt; what is no rule says nothing."""
    return Robots(Protego.parse(text.lstrip("\ufeff")))


def ask(site: Site, fetcher: Fetcher, seconds: float) -> Robots:
    """The site's rules: none where it has no robots.txt, and no crawl where nobody knows (RFC 9309)."""
    address = f"{site.origin}/robots.txt"
    try:
        answer = fetcher.get(address, bounds=Bounds(SIZE, seconds))
    except Gone:
        return Robots(None)
    except Unfetchable as error:
        if not error.silent:
            return Robots(None)
        raise SourceError(
            f"{address} {error}; what may be fetched is not known, and nothing was. See that the site is up, "
            "and that the address is right"
        ) from error
    return parse(answer.body.decode("utf-8", "replace"))
