"""The client of commands in a data folder whose index a service has open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ports import PageRecord
from ...types import Answer, Ranking, SearchOptions
from . import api_requests
from .client import PertinentClient

if TYPE_CHECKING:
    from ...validation.seed_tests import ValidationRun


class FolderClient(PertinentClient):
    """A client that knows the language of the index, and lists pages and sources in one request.

    Its searches use the ranking of the settings of the folder, as without a service.

    Args:
        url: The address of the service.
        token: The private token of the service.
        language: The language of the index.
        ranking: The ranking of the settings.
        check_reranking: Raises SettingsError if the service reranks differently from the settings. It is
            called before each search that may be reranked.
        timeout: How many seconds a request may take.
    """

    def __init__(
        self,
        url: str,
        token: str,
        language: str,
        ranking: Ranking,
        check_reranking: Callable[[], None],
        timeout: float,
    ) -> None:
        super().__init__(url, token, timeout=timeout)
        self.default_ranking = ranking
        self.language = language
        self._check_reranking = check_reranking

    def run_search(self, text: str, options: SearchOptions) -> Answer:
        """Search with options within the limits of the API."""
        if options.rerank is not False:
            self._check_reranking()
        return super().run_search(text, options)

    def run_tests(self, tests: Sequence[Mapping[str, Any]], top_k: int = 5) -> ValidationRun:
        """Run seed 004's validation tests; see `Pertinent.run_tests`."""
        self._check_reranking()
        return super().run_tests(tests, top_k)

    def list_pages(self) -> tuple[list[PageRecord], dict[str, str]]:
        """Return a record of every indexed page, and name and location of each source."""
        return self.send(api_requests.build_listing())
