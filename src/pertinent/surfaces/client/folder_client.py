"""The client of commands in a data folder whose index a service has open."""

from __future__ import annotations

from ...ports import PageRecord
from . import api_requests
from .client import PertinentClient


class FolderClient(PertinentClient):
    """A client that knows the language of the index, and lists pages and sources in one request."""

    def __init__(self, url: str, token: str, language: str, timeout: float) -> None:
        super().__init__(url, token, timeout=timeout)
        self.language = language

    def list_pages(self) -> tuple[list[PageRecord], dict[str, str]]:
        """Return a record of every indexed page, and name and location of each source."""
        return self.send(api_requests.build_listing())
