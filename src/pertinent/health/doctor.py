"""The checks of `pertinent doctor`. Each finding says what to run.

The order of the checks is that of `Doctor.examine`. A check that depends on one that failed is left out.
`repair` marks damaged pages as pending in the catalog: the next sync of their source writes them again, and
embeds only what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from .. import build
from .._internal.clock import StageTimer
from .._internal.messages import format_count, format_list
from .._internal.progress import NoProgress, Progress
from ..errors import (
    EmbedderError,
    FingerprintMismatch,
    IndexFailure,
    IndexLocked,
    IndexOutdated,
    IndexUnreachable,
    NotFound,
    PertinentError,
    RerankerError,
    StoreError,
)
from ..ports import Embedder, Fingerprint
from ..settings import FROM_CALLER, LoadedSettings, Settings
from ..types import Chunk, Filters, damaged_points, find_shared_ids, readable_chunks
from ..workspace.outdated_index import check_commits
from ..workspace.workspace import Workspace
from . import links
from .audit import (
    MAX_NAMED,
    REMEDY_EXTERNAL,
    REMEDY_INDEX,
    REMEDY_REPAIR,
    Finding,
    Inventory,
    find_damaged_points,
    take_inventory,
)
from .stored_data import STORED_DATA_CHECKS, StoredData, StoredDataCheck

LENGTH_TOLERANCE = 1e-3
"""How far the length of a vector may be from 1."""

OWN_INDEX_CHECKS = (
    "fingerprint",
    "last commit",
    "unfinished changes",
    "stored chunks",
    *(check.name for check in STORED_DATA_CHECKS),
)
"""Checks of an index that Pertinent made; `pertinent inspect` examines an external collection."""

_TEST_QUERY = "Is everything sound?"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    name: str
    summary: str
    """What was found to be in order."""
    findings: tuple[Finding, ...]
    seconds: float
    failed: bool = False
    """Whether a store or model did not answer at all."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What `Doctor.repair` did."""

    marked_pages: Sequence[str] = ()
    recounted_words: bool = False
    recorded_commit: bool = False
    """Whether the index was compared with the catalog, and is up to date but for the marked pages."""


Result = tuple[str, list[Finding]]
"""The summary and the findings of a check."""


class Doctor:
    """Checks what the settings name. Only `repair` writes.

    Args:
        load: Loads the settings; its errors become a finding.
        read_anchors: Reads the anchors of a page on the web, to check links; None leaves links out.
        progress: Receives the progress of checking links.
        advise_on_service: Returns what to do about the service that has an embedded index open, if any.
    """

    def __init__(
        self,
        load: Callable[[], LoadedSettings],
        read_anchors: links.ReadAnchors | None = None,
        progress: Progress | None = None,
        advise_on_service: Callable[[Settings], str | None] = lambda _: None,
    ) -> None:
        self._load, self._advise_on_service = load, advise_on_service
        self._read_anchors = read_anchors
        self._progress = progress or NoProgress()
        self._workspace: Workspace | None = None
        self._embedder: Embedder | None = None
        self._made_with: Fingerprint | None = None
        self._inventory: Inventory | None = None
        self._last_commit = ""
        """The id of the catalog's last commit before the stored chunks were read."""

    def examine(self) -> Iterator[Check]:
        """Run the checks; yield each result as it is ready."""
        checks: list[tuple[str, Callable[[], Result], bool]] = [
            ("settings", self._check_settings, True),
            ("catalog", self._check_catalog, True),
            ("model", self._check_model, False),
            ("reranker", self._check_reranker, False),
            ("fingerprint", self._check_fingerprint, False),
            ("index", self._check_index, True),
            ("last commit", self._check_last_commit, False),
            ("unfinished changes", self._check_pending, False),
            ("stored chunks", self._read_stored_chunks, True),
            ("payloads", self._check_payloads, False),
            *((check.name, partial(self._check_stored_data, check), False) for check in STORED_DATA_CHECKS),
        ]
        for name, check, required in checks:
            if name in OWN_INDEX_CHECKS and self._made_with is None:
                continue
            if name == "reranker" and self._opened.settings.reranker is None:
                continue
            result = _run_check(name, check)
            yield result
            if required and result.findings:
                return
        if self._read_anchors is not None:
            yield self._check_links(self._read_anchors)

    def repair(self, checks: Iterable[Check]) -> Repair:
        """Mark the damaged pages, so that the next sync writes them again.

        Wrong word counts are counted again now: a sync changes them only by what it writes. An index that
        lacked commits of the catalog is recorded as up to date, if all checks of stored data ran: every page
        that differs is marked.
        """
        checks = list(checks)
        findings = [finding for check in checks for finding in check.findings]
        damaged = sorted({page for finding in findings for page in finding.pages})
        if damaged:
            self._opened.writable_catalog().begin(damaged)
        recounts = any(finding.recounts for finding in findings)
        if recounts:
            self._opened.writable_catalog().recount_vocabulary()
        all_checks_ran = {check.name for check in checks if not check.failed}.issuperset(OWN_INDEX_CHECKS)
        records_commit = all_checks_ran and any(finding.lacks_commits for finding in findings)
        if records_commit:
            self._opened.writable_index().record_commits([self._last_commit])
        return Repair(damaged, recounts, records_commit)

    def close(self) -> None:
        """Close all that is open."""
        if self._workspace:
            self._workspace.close()

    def _check_settings(self) -> Result:
        loaded = self._load()
        self._workspace = Workspace(loaded.settings, accept_outdated=True)
        self._workspace.builds.service_advice = lambda: self._advise_on_service(loaded.settings)
        origins = {
            "the command line" if origin == FROM_CALLER else origin for origin in loaded.origins.values()
        }
        return f"from {', '.join(sorted(origins))}" if origins else "all defaults", []

    def _check_catalog(self) -> Result:
        self._opened.require()
        self._opened.catalog().ping()
        self._made_with = self._opened.catalog().fingerprint()
        if self._made_with is not None:
            self._opened.writable_catalog().check_file()
        return f"answers; {len(self._opened.catalog().pages()):,} pages", []

    def _check_model(self) -> Result:
        embedder = build.create_embedder(self._opened.settings)
        vector = embedder.embed_queries([_TEST_QUERY])[0]
        length = float((vector * vector).sum()) ** 0.5
        self._embedder = embedder
        findings = []
        if abs(length - 1) > LENGTH_TOLERANCE or len(vector) != embedder.dimension:
            findings.append(
                Finding(
                    f"{embedder.name} returned a vector of length {length:.3f} with {len(vector)} "
                    f"dimensions; it must have length 1 and {embedder.dimension} dimensions",
                    "choose another embedder: its vectors can't be compared",
                )
            )
        return f"{embedder.name}, {embedder.dimension} dimensions", findings

    def _check_reranker(self) -> Result:
        reranking = self._opened.reranking
        if reranking is None:
            return "none", []
        reranking.score(_TEST_QUERY, [_TEST_QUERY])
        return str(reranking), []

    def _check_fingerprint(self) -> Result:
        fingerprint = self._opened.catalog().fingerprint()
        if fingerprint is None or self._embedder is None:
            return "not compared: the model did not load", []
        self._opened.check_settings(self._opened.make_fingerprint(self._embedder))
        return f"{fingerprint.chunker}, {fingerprint.lexical}", []

    def _check_index(self) -> Result:
        index = self._opened.index()
        fingerprint = self._opened.catalog().fingerprint()
        if self._embedder and (fingerprint is None or fingerprint.dimension == self._embedder.dimension):
            vector = self._embedder.embed_queries([_TEST_QUERY])[0]
            index.candidates(vector, _TEST_QUERY, by=index.sides, limit=1, filters=Filters())
        return f"answers; {index.count():,} points", []

    def _check_last_commit(self) -> Result:
        fingerprint = self._require_fingerprint()
        index, catalog = self._opened.writable_index(), self._opened.writable_catalog()
        try:
            check_commits(index, fingerprint, catalog, self._opened.settings)
        except IndexOutdated as error:
            self._last_commit = catalog.commits().last
            return "", [Finding(str(error), REMEDY_REPAIR, lacks_commits=True)]
        return "the index has that of the catalog", []

    def _check_pending(self) -> Result:
        pending = self._opened.writable_catalog().pending()
        if not pending:
            return "none", []
        pages = format_count(len(pending), "page waits", "pages wait")
        problem = f"{pages} to be written: after an interrupted run, a rollback or `--repair`"
        return "", [Finding(problem, REMEDY_INDEX, frozenset(pending))]

    def _read_stored_chunks(self) -> Result:
        self._inventory = take_inventory(self._opened.index(), self._opened.catalog())
        chunks, pages = len(self._inventory.in_catalog), len(self._inventory.pages)
        return f"{chunks:,} chunks of {pages:,} pages read", []

    def _check_payloads(self) -> Result:
        """Check that every point can be read, also in an external collection."""
        if self._inventory is None:
            points = list(self._opened.index().scan())
            damaged = find_damaged_points(list(damaged_points(points)), {})
            findings = [
                *(replace(finding, remedy=REMEDY_EXTERNAL, pages=frozenset()) for finding in damaged),
                *_find_shared_ids(readable_chunks(points)),
            ]
            return "every point can be read, and has an id of its own", findings
        stored = self._inventory
        return "every point can be read", find_damaged_points(stored.damaged, stored.in_catalog)

    def _check_stored_data(self, check: StoredDataCheck) -> Result:
        if self._inventory is None:
            raise RuntimeError("read the stored chunks first")
        fingerprint, embedder = self._require_fingerprint(), self._embedder
        if embedder is not None and embedder.name != fingerprint.embedder:
            embedder = None
        index, catalog = self._opened.writable_index(), self._opened.catalog()
        data = StoredData(self._inventory, index, catalog, fingerprint, embedder)
        return check.summary, check.find(data)

    def _check_links(self, read_anchors: links.ReadAnchors) -> Check:
        """Check every stored address on its site; a site that can't be reached is not a broken link."""
        timer = StageTimer()
        pages = links.group_web_citations(
            (chunk.url, chunk.anchor) for chunk in readable_chunks(self._opened.index().scan())
        )
        self._progress.stage("Checking links", len(pages))
        broken = links.find_broken_links(pages, read_anchors, on_page=self._progress.advance)
        cited = sum(map(len, pages.values()))
        return Check(
            "links",
            f"{cited:,} addresses on {len(pages):,} pages exist" if pages else "no page has a web address",
            tuple(links.describe_broken_links(broken)),
            timer.seconds(),
            failed=any(link.kind == "not reached" for link in broken),
        )

    def _require_fingerprint(self) -> Fingerprint:
        if self._made_with is None:
            raise RuntimeError("Pertinent did not make this index")
        return self._made_with

    @property
    def _opened(self) -> Workspace:
        if self._workspace is None:
            raise RuntimeError("check the settings first")
        return self._workspace


def _find_shared_ids(chunks: Iterable[Chunk]) -> list[Finding]:
    """Find ids that chunks of an external collection share; in our own index they are keys."""
    shared = find_shared_ids(chunks)
    if not shared:
        return []
    ids = format_count(len(shared), "chunk id is", "chunk ids are")
    problem = f"{ids} shared by points with different texts: {format_list(shared, MAX_NAMED)}"
    remedy = "name the fields in `qdrant_fields`, without `chunk_id`: each chunk then has the id of its point"
    return [Finding(problem, remedy)]


_REMEDIES: tuple[tuple[type[PertinentError], str], ...] = (
    (NotFound, "do what the message says; a new index is made by `pertinent index SOURCE`"),
    (FingerprintMismatch, "`pertinent reindex`, or restore the settings that the index was made with"),
    (IndexLocked, "end the other process, then run this again"),
    (IndexUnreachable, "start the Qdrant server or correct its address, then run this again"),
    (IndexFailure, "`pertinent reindex`, which rebuilds the index from the texts in the catalog"),
    (
        StoreError,
        "do what the message says, or check that the database runs and is writable; then run this again",
    ),
    (EmbedderError, "fix what the message says, then run this again"),
    (RerankerError, "fix what the message says, or unset `reranker`; searches work without it"),
    (PertinentError, "correct the setting; `pertinent settings` shows where each value comes from"),
)


def _run_check(name: str, check: Callable[[], Result]) -> Check:
    """Run a check and time it; an error becomes a finding."""
    timer = StageTimer()
    failed = False
    try:
        summary, findings = check()
    except PertinentError as error:
        remedy = next(remedy for kind, remedy in _REMEDIES if isinstance(error, kind))
        summary, findings = "", [Finding(str(error), remedy)]
        failed = isinstance(error, StoreError | EmbedderError | RerankerError)
    return Check(name, summary, tuple(findings), timer.seconds(), failed)
