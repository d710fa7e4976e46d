"""Following redirects: only on the same host, only if robots.txt allows it, and a limited number."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from .addresses import normalize_address
from .responses import ExternalRedirect, FetchFailed, PageGone, Response
from .scope import SiteScope

_CREDENTIALS = re.compile(r"//[^/?#]*@")


class RedirectFollower:
    """Follows the redirects of one site, at most `limit` of them for a page."""

    def __init__(self, scope: SiteScope, limit: int) -> None:
        self._scope = scope
        self._limit = limit
        self.allows: Callable[[str], bool] = lambda _: True
        """Whether robots.txt allows to fetch an address."""

    def follow(self, address: str, request: Callable[[str], Response]) -> Response:
        """Request an address, then those that it redirects to; return the first other response.

        Raises PageGone or FetchFailed for a redirect that is not followed.
        """
        visited = [address]
        while True:
            response = request(visited[-1])
            location = response.redirect_location
            if location is None:
                return response
            target = self._resolve_target(visited[-1], location)
            if target in visited:
                raise FetchFailed(f"redirects in a circle, back to {target}")
            visited.append(target)
            if len(visited) > self._limit + 1:
                raise FetchFailed(f"redirects more than {self._limit} times, at last to {target}")

    def _resolve_target(self, address: str, location: str) -> str:
        """The address on this site that a redirect from `address` leads to."""
        resolved = normalize_address(location, address)
        target = resolved and self._scope.served_address(resolved)
        if not resolved or not target:
            shown_target = _CREDENTIALS.sub("//", resolved or location)
            raise ExternalRedirect(f"redirects to {shown_target[:200]}, which is not on this host")
        scheme = urlsplit(resolved).scheme
        if target == address and scheme != urlsplit(address).scheme:
            raise FetchFailed(
                f"redirects to {resolved}; give the address with {scheme}:// instead", no_answer=True
            )
        if not self.allows(target):
            raise PageGone(f"redirects to {target}, which robots.txt forbids")
        return target
