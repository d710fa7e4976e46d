"""Pertinent from Python: the object `Pertinent`, and the functions that the seeds name."""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from .._internal.progress import Progress, Silent
from ..errors import InvalidInput, NotFound
from ..identity import is_url
from ..indexing.plan import Plan
from ..indexing.sync import Summary
from ..limits import (
    ENGINE,
    RETRIEVAL_IMPLEMENTATION,
    RETRIEVAL_LAYER,
    RETRIEVAL_TESTING,
    check_count,
    check_options,
)
from ..ports import PageRecord
from ..search.engine import damage_notes, find_neighbours
from ..settings import load
from ..types import Answer, Chunk, Filters, Ranking, SearchOptions
from ..workspace.workspace import Workspace
from .entities import QueryEmbedding, RetrievalResult, to_retrieval_result
from .response import query_response

if TYPE_CHECKING:
    from ..ports import Source
    from ..sources.site import CrawlLimits, PageFilter
    from ..validation.golden.golden_set import GoldenSet
    from ..validation.report import ValidationReport
    from ..validation.seed_tests import ValidationRun

MOST_AROUND = 100


class Pertinent:
    """A folder of indexed documentation, open for searching and indexing; safe to use from threads."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None = None, **settings: Any) -> Self:
        """Open with the settings of this place, those given here before all others."""
        return cls(Workspace(load({"folder": folder, **settings}).settings))

    def plan(
        self,
        source: str | os.PathLike[str],
        *,
        base_url: str | None = None,
        name: str | None = None,
        choice: PageFilter | None = None,
        limits: CrawlLimits | None = None,
        progress: Progress | None = None,
    ) -> Plan:
        """What indexing the source would do now; nothing is written but what a crawl remembers."""
        # Where there is no folder yet, none is made.
        memory = self._crawls if self._crawls.parent.exists() else None
        opened = self._source(source, base_url, name, choice, limits, memory)
        with self._planning() as workspace:
            return workspace.indexer(progress or Silent()).plan(opened)

    @contextmanager
    def _planning(self) -> Iterator[Workspace]:
        """The workspace, or an empty one elsewhere where there is none yet: a plan makes no files."""
        if self.workspace.has_pages():
            yield self.workspace
            return
        with tempfile.TemporaryDirectory() as folder:
            elsewhere = {"folder": Path(folder), "database_url": None, "qdrant_url": None}
            empty = Workspace(self.workspace.settings.model_copy(update=elsewhere))
            try:
                yield empty
            finally:
                empty.close()

    def index(
        self,
        source: str | os.PathLike[str],
        *,
        base_url: str | None = None,
        name: str | None = None,
        choice: PageFilter | None = None,
        limits: CrawlLimits | None = None,
        allow_shrink: bool = False,
        progress: Progress | None = None,
    ) -> Summary:
        """Make the index say what the source says: a folder of Markdown, a live site, or `beir:DIR`.

        Which pages of a site are wanted and how far its crawl may go is said by `choice` and `limits`
        (`pertinent.sources.site`).
        """
        opened = self._source(source, base_url, name, choice, limits, self._crawls)
        progress = progress or Silent()
        with self.workspace.writing(progress, new=True):
            indexer = self.workspace.indexer(progress)
            return indexer.apply(indexer.plan(opened), allow_shrink=allow_shrink)

    def _source(
        self,
        spec: str | os.PathLike[str],
        base_url: str | None,
        name: str | None,
        choice: PageFilter | None,
        limits: CrawlLimits | None,
        memory: Path | None,
    ) -> Source:
        from ..sources import open_source

        return open_source(
            os.fspath(spec), base_url=base_url, name=name, memory=memory, choice=choice, limits=limits
        )

    @property
    def _crawls(self) -> Path:
        """Where what was fetched from sites is remembered."""
        return self.workspace.settings.folder / "crawl.sqlite3"

    def remove(self, source: str) -> int:
        """Take a source, by its name, and all its pages out of the index; how many pages that were."""
        self.workspace.require()
        names = self.workspace.catalog().sources()
        if source not in names:
            raise NotFound(f"no source has the name {source!r}; there are {', '.join(names) or 'none'}")
        with self.workspace.writing(Silent()):
            return self.workspace.indexer(Silent()).remove(source)

    def reindex(
        self,
        progress: Progress | None = None,
        *,
        golden: str | os.PathLike[str] | None = None,
        told: Callable[[str], None] = lambda _: None,
    ) -> int:
        """Make the index anew from the texts it holds, with the present settings; counts its chunks.

        With a golden set, the new index is taken only where it passes and is not worse than the old one.
        """
        accept = None
        if golden is not None:
            from .reindex_gate import ReindexGate

            accept = ReindexGate(self.workspace, golden, told)
        with self.workspace.writing(progress := progress or Silent()):
            return self.workspace.reindex(progress, accept)

    def migrate_to(
        self, qdrant_url: str, database_url: str | None = None, progress: Progress | None = None
    ) -> int:
        """Take the embedded index to a Qdrant server, and the catalog to PostgreSQL; counts the chunks.

        Nothing is embedded again, and what is here stays. `qdrant_url` and `database_url` are to be set
        from then on.
        """
        from ..workspace.migrate import migrate

        here = self.workspace.settings
        there = {"qdrant_url": qdrant_url, "database_url": database_url or here.database_url}
        settings = load({**here.model_dump(exclude_defaults=True), **there}).settings
        with self.workspace.writing(progress := progress or Silent()):
            return migrate(self.workspace, settings, progress)

    def rollback(self) -> str:
        """Go back to the index that the last `reindex` replaced; the embedder that it was made with."""
        with self.workspace.writing(Silent()):
            return self.workspace.rollback().embedder

    def drop_old(self) -> bool:
        """Remove the index that the last `reindex` replaced; whether there was one."""
        with self.workspace.writing(Silent()):
            return self.workspace.drop_old() is not None

    def search(
        self,
        text: str,
        top_k: int = 5,
        threshold: float = 0.0,
        ranking: Ranking | None = None,
        filters: Filters | Mapping[str, str] | None = None,
        per_page: int | None = None,
        *,
        fallback: Literal["lexical"] | None = None,
    ) -> Answer:
        """The passages that answer the text best, each with its address and its score."""
        options = SearchOptions(
            top_k=top_k,
            threshold=threshold,
            ranking=ranking,
            filters=as_filters(filters),
            per_page=per_page,
            fallback=fallback,
        )
        return self.workspace.engine().search(ENGINE.check_query(text), check_options(options))

    def search_many(self, texts: Sequence[str], **options: Any) -> list[Answer]:
        """An answer for each text, in order; the options are those of `search`."""
        if isinstance(texts, str):
            raise InvalidInput("texts", "must be a list of texts, not one text")
        filters = as_filters(options.pop("filters", None))
        checked_options = check_options(SearchOptions(filters=filters, **options))
        queries = [(ENGINE.check_query(text), checked_options) for text in texts]
        answers = []
        for outcome in self.workspace.engine().search_batch(queries):
            if isinstance(outcome, Exception):
                raise outcome
            answers.append(outcome)
        return answers

    def validate(
        self,
        golden: str | os.PathLike[str] | GoldenSet,
        *,
        progress: Progress | None = None,
        **options: Any,
    ) -> ValidationReport:
        """The verdict on a golden set: a file, `beir:DIR` or one made in Python.

        The options are those of `pertinent.validation.validate.Options`, such as `ranking`, `audit` and
        `concurrency`. Nothing is written; `pertinent.validation.report.save` does that.
        """
        from ..validation.criteria import merge_criteria
        from ..validation.golden.formats import read_golden
        from ..validation.golden.golden_set import GoldenSet
        from ..validation.validate import Options, validate
        from .subjects import Local

        asked = golden if isinstance(golden, GoldenSet) else read_golden(os.fspath(golden))
        criteria = merge_criteria(self.workspace.settings.criteria, asked.criteria)
        return validate(Local(self.workspace), asked, Options(**options), criteria, progress)

    def run_tests(self, tests: Sequence[Mapping[str, Any]], top_k: int = 5) -> ValidationRun:
        """Seed 004's validation tests: whether each query finds the chunks that it should."""
        from ..validation.seed_tests import parse_tests, run_tests

        checked = parse_tests(tests)
        wanted = RETRIEVAL_IMPLEMENTATION.check_top_k(top_k)
        return run_tests(
            checked,
            lambda text: self.search(text, wanted),
            self.workspace.read_texts,
        )

    def chunk(self, chunk_id: str, around: int = 0) -> list[Chunk]:
        """The chunk, with up to `around` of its neighbours on each side, in the order of the page."""
        if around != 0:
            check_count("around", around, MOST_AROUND, least=0)
        self.workspace.require()
        return find_neighbours(self.workspace.catalog(), chunk_id, around)

    def pages(self) -> list[PageRecord]:
        """Every page that is indexed."""
        self.workspace.require()
        return self.workspace.catalog().pages()

    def close(self) -> None:
        """Give the index back, so that another process may open it."""
        self.workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def as_filters(filters: Filters | Mapping[str, str] | None) -> Filters:
    """Filters from a mapping; a name that is no filter is an error."""
    if filters is None:
        return Filters()
    if isinstance(filters, Filters):
        filters = {name: value for name, value in asdict(filters).items() if value is not None}
    if not isinstance(filters, Mapping):
        raise InvalidInput("filter", f"must be names and values, not {type(filters).__name__}")
    names = [one.name for one in fields(Filters)]
    for name, value in filters.items():
        if name not in names:
            raise InvalidInput("filter", f"{name!r} is none of {', '.join(names)}")
        if not isinstance(value, str) or not value:
            raise InvalidInput("filter", f"{name} must be text that is not empty, not {value!r}")
        if name == "url" and not is_url(value):
            raise InvalidInput(
                "filter", f"url must be an address like https://example.org/docs, not {value!r}"
            )
    return Filters(**filters)


_default: Pertinent | None = None
_opening = threading.RLock()


def default() -> Pertinent:
    """The Pertinent of the present folder and environment, opened once for the functions below."""
    global _default  # noqa: PLW0603 - the functions of seeds 001 and 002 are bare by contract
    with _opening:
        if _default is None:
            _default = Pertinent.open()
            atexit.register(close_default)
        return _default


def close_default() -> None:
    """Close what the functions below have opened; the next call opens it anew."""
    global _default  # noqa: PLW0603 - as above
    with _opening:
        if _default is not None:
            _default.close()
            _default = None


def generate_query_embedding(query: str) -> QueryEmbedding:
    """The query's vector, made by the configured model; 1 to 1000 characters."""
    text = RETRIEVAL_LAYER.check_query(query)
    embedder = default().workspace.embedder()
    return QueryEmbedding(embedder.embed_queries([text])[0].tolist(), text, embedder.model)


def retrieve_content_chunks(query_embedding: Sequence[float], limit: int = 5) -> list[RetrievalResult]:
    """The passages nearest to a vector, best first; damaged points are left out with a warning."""
    limit = RETRIEVAL_LAYER.check_top_k(limit)
    workspace = default().workspace
    engine = workspace.engine()
    answer = engine.search_vector(query_embedding, SearchOptions(top_k=limit))
    for note in damage_notes(answer.damaged):
        warnings.warn(note, stacklevel=2)
    return [to_retrieval_result(hit) for hit in answer.hits]


def retrieve(
    query_text: str,
    top_k: int = 5,
    threshold: float = 0.0,
    include_metadata: bool = True,  # noqa: FBT001, FBT002 - seed 001's signature
) -> dict[str, Any]:
    """Seed 001's Query Response for a Query Request, as plain data."""
    text = RETRIEVAL_TESTING.check_query(query_text)
    top_k = RETRIEVAL_TESTING.check_top_k(top_k)
    threshold = RETRIEVAL_TESTING.check_threshold(threshold)
    if not isinstance(include_metadata, bool):
        raise InvalidInput("include_metadata", f"must be true or false, not {include_metadata!r}")
    answer = default().search(text, top_k, threshold)
    return query_response(answer, include_metadata=include_metadata)


def validate(tests: Sequence[Mapping[str, Any]], top_k: int = 5) -> dict[str, Any]:
    """Seed 004's validation tests and what came of them, as plain data."""
    return default().run_tests(tests, top_k).model_dump(mode="json")
