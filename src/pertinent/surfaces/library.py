"""Pertinent from Python: the class `Pertinent`, which opens an index to search and update it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from .._internal.closing import ClosedAtExit
from .._internal.progress import NoProgress, Progress
from ..errors import InvalidInput, NotFound
from ..indexing.plan import SyncPlan
from ..indexing.sync import SyncSummary
from ..limits import ENGINE, MAX_NEIGHBORS, RETRIEVAL_IMPLEMENTATION, SUGGESTIONS, check_count
from ..ports import PageRecord
from ..search.engine import find_neighbors
from ..settings import load
from ..types import Answer, Chunk, Filters, Ranking, Suggestion
from ..workspace.dry_run import open_for_planning
from ..workspace.reindex import drop_previous, reindex, rollback
from ..workspace.workspace import Workspace
from .page_view import read_page
from .running_service import advise_on_running_service
from .search_filters import make_options

if TYPE_CHECKING:
    from ..ports import Source
    from ..sources.site import CrawlLimits, PageFilter
    from ..validation.golden.golden_set import GoldenSet
    from ..validation.report import ValidationReport
    from ..validation.seed_tests import ValidationRun
    from ..validation.target import PageView


class Pertinent(ClosedAtExit):
    """An index of documentation, open for searching and indexing.

    Use it as a context manager, or call `close()`. Its methods may be called from several threads.

    Examples:
        >>> with Pertinent.open() as pertinent:
        ...     pertinent.index("docs/", base_url="https://example.org/docs")
        ...     for hit in pertinent.search("How do nodes talk to each other?").hits:
        ...         print(hit.score, hit.chunk.citation)
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        workspace.builds.service_advice = lambda: advise_on_running_service(workspace.settings)

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None = None, **settings: Any) -> Self:
        """Open the index that the settings name; its stores are opened when first needed.

        Args:
            folder: The folder of the index and the catalog. Default: the setting `folder`.
            settings: Settings by name. They take precedence over the environment and pertinent.toml.

        Raises:
            SettingsError: A setting is unknown or invalid, or two contradict each other.

        Examples:
            >>> pertinent = Pertinent.open("data", embedder="cohere:embed-english-v3.0")
        """
        return cls(Workspace(load({"folder": folder, **settings}).settings))

    def plan(
        self, source: str | os.PathLike[str], *, progress: Progress | None = None, **options: Any
    ) -> SyncPlan:
        """Return what `index` would do, without changing the index.

        The options are those of `index`, except `allow_shrink`. A crawl still updates its cache of pages.

        Examples:
            >>> plan = pertinent.plan("docs/")
            >>> print(len(plan.changes), "pages to write,", len(plan.removed), "to remove")
        """
        self.workspace.require_writable()
        # A folder that does not exist is not created, so such a crawl has no cache.
        cache = self._crawl_cache if self._crawl_cache.parent.exists() else None
        opened = self._open_source(source, cache, **options)
        with open_for_planning(self.workspace) as workspace:
            return workspace.create_indexer(progress or NoProgress(), opened).plan(opened, dry_run=True)

    def index(
        self,
        source: str | os.PathLike[str],
        *,
        base_url: str | None = None,
        name: str | None = None,
        follow_links: bool = False,
        page_filter: PageFilter | None = None,
        limits: CrawlLimits | None = None,
        allow_shrink: bool = False,
        progress: Progress | None = None,
    ) -> SyncSummary:
        """Sync a source into the index: embed new and changed pages, delete removed ones.

        Args:
            source: A folder of Markdown, the address of a live site or its sitemap, or `beir:FOLDER`.
            base_url: The public address of the pages.
            name: The name of the source in the index. Default: derived from the source.
            follow_links: Read symlinks that lead outside the source folder.
            page_filter: Which pages of a live site to read (`pertinent.sources.site.PageFilter`).
            limits: How far a crawl may go (`pertinent.sources.site.CrawlLimits`).
            allow_shrink: Allow a sync that removes over a quarter of the pages, or most text of over half.
            progress: Receives the stages and steps of the work.

        Returns:
            How many pages and chunks were added, changed and removed, and which could not be read.

        Raises:
            SourceError: The source can't be read at all.
            SyncRefused: The sync would remove too much, or the name belongs to another source.

        Examples:
            >>> summary = pertinent.index("docs/", base_url="https://example.org/docs")
            >>> print(summary.pages_added, "pages added")
        """
        opened = self._open_source(
            source,
            self._crawl_cache,
            base_url=base_url,
            name=name,
            follow_links=follow_links,
            page_filter=page_filter,
            limits=limits,
        )
        progress = progress or NoProgress()
        with self.workspace.writing(progress, new=True):
            indexer = self.workspace.create_indexer(progress, opened)
            return indexer.apply(indexer.plan(opened), allow_shrink=allow_shrink)

    def _open_source(self, source: str | os.PathLike[str], cache: Path | None, **options: Any) -> Source:
        """Open a source, with the options of `sources.open_source`."""
        from ..sources import open_source

        return open_source(os.fspath(source), cache_file=cache, **options)

    @property
    def _crawl_cache(self) -> Path:
        """The file that caches pages fetched from live sites."""
        return self.workspace.settings.folder / "crawl.sqlite3"

    def remove(self, source: str, progress: Progress | None = None) -> int:
        """Remove a source and all its pages from the index.

        Args:
            source: The name of the source, as `pertinent list` prints it.
            progress: Receives the name of the process that is waited for, if any.

        Returns:
            How many pages were removed.

        Raises:
            NotFound: No source has this name.
        """
        self.workspace.require()
        names = self.workspace.catalog().sources()
        if source not in names:
            raise NotFound(f"no source has the name {source!r}; there are {', '.join(names) or 'none'}")
        with self.workspace.writing(progress or NoProgress(), frees_space=True):
            return self.workspace.create_indexer(NoProgress()).remove(source)

    def reindex(
        self,
        progress: Progress | None = None,
        *,
        golden: str | os.PathLike[str] | None = None,
        notify: Callable[[str], None] = lambda _: None,
    ) -> int:
        """Rebuild the index from the texts in the catalog, with the current settings.

        The index in use answers until the new one is complete, and is then kept for `rollback`.

        Args:
            progress: Receives the stages and steps of the work.
            golden: A golden set: the new index is used only if it passes and is not significantly worse
                than the one in use.
            notify: Receives the summary of each validation.

        Returns:
            The number of chunks in the new index.

        Raises:
            SyncRefused: The new index did not pass the golden set.
        """
        accept = None
        if golden is not None:
            from .reindex_gate import ReindexGate

            accept = ReindexGate(self.workspace, golden, notify)
        with self.workspace.writing(progress := progress or NoProgress()):
            return reindex(self.workspace, progress, accept)

    def migrate_to(
        self, qdrant_url: str, database_url: str | None = None, progress: Progress | None = None
    ) -> int:
        """Copy the embedded index to a Qdrant server, without embedding anything again.

        The embedded index stays as it is. Set `qdrant_url` and `database_url` from then on.

        Args:
            qdrant_url: The server, or the peers of a cluster separated by commas.
            database_url: A PostgreSQL database to copy the catalog to.
            progress: Receives the stages and steps of the work.

        Returns:
            The number of copied chunks; 0 if an earlier call completed the copy.
        """
        from ..workspace.migrate import migrate

        current = self.workspace.settings
        servers = {"qdrant_url": qdrant_url, "database_url": database_url or current.database_url}
        settings = load({**current.model_dump(exclude_defaults=True), **servers}).settings
        with self.workspace.writing(progress := progress or NoProgress()):
            return migrate(self.workspace, settings, progress)

    def rollback(self, progress: Progress | None = None) -> str:
        """Return to the index that the last `reindex` replaced; return its embedder, which must be set."""
        with self.workspace.writing(progress or NoProgress()):
            return rollback(self.workspace).embedder

    def drop_previous(self, progress: Progress | None = None) -> bool:
        """Delete the index that the last `reindex` replaced; return whether there was one."""
        with self.workspace.writing(progress or NoProgress(), frees_space=True):
            return drop_previous(self.workspace) is not None

    def search(  # noqa: PLR0913 - the options of a search are its arguments
        self,
        text: str,
        top_k: int = 5,
        threshold: float = 0.0,
        ranking: Ranking | None = None,
        filters: Filters | Mapping[str, str] | None = None,
        per_page: int | None = None,
        *,
        fallback: Literal["lexical"] | None = None,
        correct: bool = True,
        rerank: bool | None = None,
    ) -> Answer:
        """Find the passages that answer a text best.

        Args:
            text: The question or the words to search for, 1 to 2000 characters.
            top_k: The maximum number of hits, 1 to 100.
            threshold: The minimum score of a hit, 0.0 to 1.0.
            ranking: `hybrid`, `dense` or `lexical`. Default: the setting `ranking`.
            filters: Search only where `document_id`, `section`, `url` (a prefix) or `source_type` match.
            per_page: The maximum number of hits from one page.
            fallback: `lexical` answers by words alone if the embedding model fails.
            correct: Complete or correct words that the book does not have, except words in quotes.
            rerank: Whether the best hits are reranked. Default: only those of `hybrid`, if `reranker` is set.

        Returns:
            The hits, best first, each with its score and its address.

        Raises:
            InvalidInput: An argument is out of range.
            NotFound: Nothing is indexed yet.

        Examples:
            >>> answer = pertinent.search("joint limits", top_k=3, filters={"section": "Pitfalls"})
        """
        options = make_options(
            filters,
            top_k=top_k,
            threshold=threshold,
            ranking=ranking,
            per_page=per_page,
            fallback=fallback,
            correct=correct,
            rerank=rerank,
        )
        return self.workspace.engine().search(ENGINE.check_query(text), options)

    def search_many(self, texts: Sequence[str], **options: Any) -> list[Answer]:
        """Search for several texts, whose embeddings are computed in one batch.

        Args:
            texts: The texts to search for.
            options: Those of `search`, the same for all texts.

        Returns:
            An answer for each text, in the same order.
        """
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise InvalidInput("texts", "must be a list of texts")
        checked_options = make_options(**options)
        queries = [(ENGINE.check_query(text), checked_options) for text in texts]
        answers = []
        for outcome in self.workspace.engine().search_batch(queries):
            if isinstance(outcome, Exception):
                raise outcome
            answers.append(outcome)
        return answers

    def suggest(self, prefix: str, limit: int = 8) -> list[Suggestion]:
        """Find pages and sections whose name fits what has been typed so far.

        Args:
            prefix: The beginning of a name, words of it, or either with typos; up to 2000 characters.
            limit: The maximum number of suggestions, 1 to 50.

        Returns:
            The suggestions, best first; none for an empty prefix.

        Examples:
            >>> for suggestion in pertinent.suggest("joint lim"):
            ...     print(suggestion.breadcrumb, suggestion.url)
        """
        typed, count = SUGGESTIONS.check_typed(prefix), SUGGESTIONS.check_top_k(limit)
        return self.workspace.engine().suggest(typed, count)

    def validate(
        self,
        golden: str | os.PathLike[str] | GoldenSet,
        *,
        progress: Progress | None = None,
        **options: Any,
    ) -> ValidationReport:
        """Run a golden set and return the report with its verdict; no file is written.

        Args:
            golden: A file, `beir:FOLDER`, or a golden set made in Python.
            progress: Receives the stages and steps of the work.
            options: Those of `pertinent.validation.options.ValidationOptions`, such as `ranking`, `audit` and
                `concurrency`.

        Returns:
            The report. `pertinent.validation.report_files.save_report` writes it to a folder.

        Examples:
            >>> report = pertinent.validate("golden.yaml", ranking="dense")
            >>> print(report.verdict, report.summary)
        """
        from .validation_targets import LocalPipeline, validate_golden

        criteria = self.workspace.settings.criteria
        return validate_golden(LocalPipeline(self.workspace), golden, criteria, progress, **options)

    def run_tests(self, tests: Sequence[Mapping[str, Any]], top_k: int = 5) -> ValidationRun:
        """Run seed 004's validation tests: whether each query finds the chunks that it should.

        Args:
            tests: Each has `test_id`, `query_text`, `expected_results` and `success_criteria`.
            top_k: How many hits of each query to look at, 1 to 100.

        Returns:
            Which tests passed, with the hits of each; `pertinent.validate` has an example of a test.
        """
        from ..validation.seed_tests import parse_tests, run_tests

        checked_tests = parse_tests(tests)
        limit = RETRIEVAL_IMPLEMENTATION.check_top_k(top_k)
        return run_tests(checked_tests, lambda text: self.search(text, limit), self.workspace.read_texts)

    def chunk(self, chunk_id: str, around: int = 0) -> list[Chunk]:
        """Return a chunk and its neighbours, in the order of the page.

        Args:
            chunk_id: The id of the chunk.
            around: How many neighbours to return on each side, 0 to 100.

        Raises:
            NotFound: No chunk has this id.
        """
        check_count("around", around, MAX_NEIGHBORS, minimum=0)
        self.workspace.require()
        return find_neighbors(self.workspace.catalog(), chunk_id, around)

    def pages(self) -> list[PageRecord]:
        """Return a record of every indexed page: id, url, title, source, path, hash, number of chunks."""
        self.workspace.require()
        return self.workspace.catalog().pages()

    def page(self, document_id: str) -> PageView:
        """Return a page with its text and its chunks.

        Args:
            document_id: The id of the page, as `pages` and every hit have it.

        Raises:
            NotFound: No page has this id.
        """
        self.workspace.require()
        return read_page(self.workspace.catalog(), document_id)

    def sources(self) -> Mapping[str, str]:
        """Return the location of each source (a folder or an address), by its name."""
        self.workspace.require()
        return self.workspace.catalog().sources()

    def close(self) -> None:
        """Close the stores, so that another process can open the index."""
        self.workspace.close()
