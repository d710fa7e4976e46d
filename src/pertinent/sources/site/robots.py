"""robots.txt: what may be fetched from a site, how fast, and which sitemaps it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from protego import Protego

from ...errors import SourceError
from .fetch import Fetcher
from .http_client import PRODUCT, ResponseLimits
from .responses import FetchFailed, PageGone, UndecodableBody
from .scope import SiteScope

_MAX_BYTES = 500 * 2**10
"""How much of a robots.txt is read: what RFC 9309 requires."""

_OTHER_CRAWLER = "other"
# Without a colon, too, as Protego reads it; `user-agent a: b` is no rule to it.
_AGENT = re.compile(
    r"(?P<field>\s*user[-\s]*agent(?:\s*:|\s(?![^:#]*:(?:[\s#]|$)))\s*)(?P<name>[^#]*)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of a robots.txt for this crawler."""

    rules: Protego | None
    """None where there is no robots.txt, and everything is allowed."""

    def allows(self, address: str) -> bool:
        """Whether an address may be fetched."""
        return self.rules is None or bool(self.rules.can_fetch(address, PRODUCT))

    @property
    def delay(self) -> float:
        """The `Crawl-delay`: seconds between two requests."""
        return float(self.rules.crawl_delay(PRODUCT) or 0.0) if self.rules else 0.0

    @property
    def sitemaps(self) -> list[str]:
        """The addresses of sitemaps that robots.txt names."""
        return list(self.rules.sitemaps) if self.rules else []


def parse_robots(text: str) -> Robots:
    """Parse the text of a robots.txt; lines that are no rules are ignored.

    All crawlers that are not this one get the same name: Protego keeps a copy of each rule for each name
    above it, which for thousands of names would fill the memory.
    """
    lines = text.lstrip("\ufeff").splitlines()
    return Robots(Protego.parse("\n".join(_merge_crawlers(line) for line in lines)))


def _merge_crawlers(line: str) -> str:
    """Return a line with the name of another crawler replaced; the name of this one may be cut short."""
    match = _AGENT.match(line)
    name = match["name"].strip().lower() if match else ""
    if match is None or name in ("", "*"):
        return line
    token = name.replace("*", "")  # as Protego reads `Pertinent*`
    is_this_crawler = token and PRODUCT.lower().startswith(token)
    return match["field"] + (token if is_this_crawler else _OTHER_CRAWLER)


def fetch_robots(scope: SiteScope, fetcher: Fetcher, seconds: float) -> Robots:
    """Fetch the rules of a site, as RFC 9309 asks.

    Everything is allowed where the site has no robots.txt. Raises SourceError where the site does not
    answer, or the answer can't be decoded, since then nothing may be fetched.
    """
    address = f"{scope.origin}/robots.txt"
    try:
        response = fetcher.get(address, limits=ResponseLimits(_MAX_BYTES, seconds, cut=True))
    except PageGone:
        return Robots(None)
    except FetchFailed as error:
        if not (error.no_answer or isinstance(error, UndecodableBody)):
            return Robots(None)
        raise SourceError(
            f"{address} {error}; without it nothing may be fetched, and nothing was changed. "
            "Check that the site is up and that the address is right"
        ) from error
    rules = response.body
    if len(rules) == _MAX_BYTES:
        # Half a line would be another rule: `Disallow: /p` instead of `Disallow: /private`.
        rules = rules.rpartition(b"\n")[0]
    return parse_robots(rules.decode("utf-8", "replace"))
