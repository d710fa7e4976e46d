"""Is everything sound? Each check gives plain findings, and each finding says what to run.

    settings → catalog → model → fingerprint → index → unfinished changes → payloads → drift → hashes → links

A check that can't be made because the one before it failed is left out. Damage to what is stored is
mended by marking the pages as pending in the catalog (`repair`): the next sync of their source then
writes them anew, and embeds only what is no longer there.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from .. import build
from .._internal.progress import Progress, Silent
from ..errors import (
    EmbedderError,
    FingerprintMismatch,
    IndexFailure,
    IndexLocked,
    NotFound,
    PertinentError,
    StoreError,
)
from ..ports import Embedder, Fingerprint
from ..settings import Loaded
from ..types import Filters, damaged_points, readable_chunks
from ..workspace.workspace import Workspace
from . import links
from .audit import (
    ELSEWHERE,
    REINDEX,
    Finding,
    Inventory,
    drift,
    hashes,
    payloads,
    positions,
    slices,
    take_inventory,
    vectors,
)

TOLERANCE = 1e-3
"""How far from 1 the length of a vector may be."""

OWN = (
    "fingerprint",
    "unfinished changes",
    "stored chunks",
    "drift",
    "hashes",
    "slices",
    "positions",
    "vectors",
)
"""Checks of an index that Pertinent made; `pertinent inspect` examines an external collection."""

_PROBE = "Is everything sound?"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what was seen, what is wrong, and how long it took."""

    name: str
    seen: str
    findings: tuple[Finding, ...]
    seconds: float
    failed: bool = False
    """Whether a part did not answer at all, rather than answer wrongly."""


Look = Callable[[], tuple[str, list[Finding]]]


class Doctor:
    """Examines what the settings name; writes nothing but the marks of `repair`."""

    def __init__(
        self,
        load: Callable[[], Loaded],
        anchors_of: links.AnchorsOf | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._load = load
        self._anchors_of = anchors_of
        self._progress = progress or Silent()
        self._workspace: Workspace | None = None
        self._embedder: Embedder | None = None
        self._made_with: Fingerprint | None = None
        self._inventory: Inventory | None = None

    def examine(self) -> Iterator[Check]:
        """Each check as it is done."""
        for name, look, needed in (
            ("settings", self._settings, True),
            ("catalog", self._catalog, True),
            ("model", self._model, False),
            ("fingerprint", self._fingerprint, False),
            ("index", self._index, True),
            ("unfinished changes", self._unfinished, False),
            ("stored chunks", self._stored, True),
            ("payloads", self._payloads, False),
            ("drift", lambda: self._audit(drift, "index and catalog hold the same chunks"), False),
            ("hashes", lambda: self._audit(hashes, "every text has its hash"), False),
            ("slices", lambda: self._audit(slices, "every chunk is a slice of its page"), False),
            ("positions", lambda: self._audit(positions, "each page's chunks run 0, 1, 2 …"), False),
            ("vectors", self._vectors, False),
        ):
            if name in OWN and self._made_with is None:
                continue
            check = _timed(name, look)
            yield check
            if needed and check.findings:
                return
        if self._anchors_of is not None:
            yield self._links(self._anchors_of)

    def repair(self, checks: Iterable[Check]) -> list[str]:
        """Mark the damaged pages, so that the next sync writes them anew; which they are."""
        damaged = sorted({page for check in checks for one in check.findings for page in one.pages})
        if damaged and self._workspace:
            self._workspace.writable_catalog().begin(damaged)
        return damaged

    def close(self) -> None:
        """Give back what was opened."""
        if self._workspace:
            self._workspace.close()

    def _settings(self) -> tuple[str, list[Finding]]:
        loaded = self._load()
        self._workspace = Workspace(loaded.settings)
        places = sorted({"the command line" if one == "given" else one for one in loaded.origins.values()})
        return f"from {', '.join(places)}" if places else "all defaults", []

    def _catalog(self) -> tuple[str, list[Finding]]:
        self._opened.require()
        self._opened.catalog().ping()
        self._made_with = self._opened.catalog().fingerprint()
        return f"answers; {len(self._opened.catalog().pages()):,} pages", []

    def _model(self) -> tuple[str, list[Finding]]:
        embedder = build.embedder(self._opened.settings)
        vector = embedder.embed_queries([_PROBE])[0]
        length = float((vector * vector).sum()) ** 0.5
        self._embedder = embedder
        findings = []
        if abs(length - 1) > TOLERANCE or len(vector) != embedder.dimension:
            findings.append(
                Finding(
                    f"{embedder.name} gives vectors of length {length:.3f} and {len(vector)} dimensions, "
                    f"not 1 and {embedder.dimension}",
                    "choose another embedder: its vectors can't be compared",
                )
            )
        return f"{embedder.name}, {embedder.dimension} dimensions", findings

    def _fingerprint(self) -> tuple[str, list[Finding]]:
        found = self._opened.catalog().fingerprint()
        if found is None or self._embedder is None:
            return "not compared: the model did not load", []
        self._opened.check_settings(build.fingerprint(self._opened.settings, self._embedder))
        return f"{found.chunker}, {found.lexical}", []

    def _index(self) -> tuple[str, list[Finding]]:
        index = self._opened.index()
        found = self._opened.catalog().fingerprint()
        if self._embedder and (found is None or found.dimension == self._embedder.dimension):
            vector = self._embedder.embed_queries([_PROBE])[0]
            index.candidates(vector, _PROBE, by=index.sides, limit=1, filters=Filters())
        return f"answers; {index.count():,} points", []

    def _unfinished(self) -> tuple[str, list[Finding]]:
        pending = self._opened.writable_catalog().pending()
        if not pending:
            return "none", []
        what = "1 page waits" if len(pending) == 1 else f"{len(pending):,} pages wait"
        problem = f"{what} to be written: a run was broken off, or they were marked"
        return "", [Finding(problem, AGAIN, frozenset(pending))]

    def _stored(self) -> tuple[str, list[Finding]]:
        try:
            self._inventory = take_inventory(self._opened.index(), self._opened.catalog())
        except (KeyError, TypeError, ValueError) as error:
            problem = f"something stored has lost its form ({type(error).__name__}: {error})"
            return "", [Finding(problem, f"move {self._opened.settings.folder} away, then {AGAIN}")]
        chunks = len(self._inventory.in_catalog)
        return f"{chunks:,} chunks of {len(self._inventory.pages):,} pages read", []

    def _payloads(self) -> tuple[str, list[Finding]]:
        """Whether every point can be read; also of a collection that another pipeline filled."""
        if self._inventory is None:
            damaged = list(damaged_points(self._opened.index().scan()))
            return "every point can be read", payloads(damaged, {}, ELSEWHERE)
        stored = self._inventory
        return "every point can be read", payloads(stored.damaged, stored.in_catalog, REINDEX)

    def _audit(self, rule: Callable[[Inventory], list[Finding]], sound: str) -> tuple[str, list[Finding]]:
        return sound, rule(self._taken)

    def _vectors(self) -> tuple[str, list[Finding]]:
        found = self._opened.catalog().fingerprint()
        made_by = found.embedder if found else ""
        return "each was made from its chunk", vectors(self._taken, self._opened.writable_index(), made_by)

    def _links(self, anchors_of: links.AnchorsOf) -> Check:
        """Every stored address, asked of the site; that it can't be reached is not that it is wrong."""
        began = time.perf_counter()
        pages = links.on_the_web(
            (chunk.url, chunk.anchor) for chunk in readable_chunks(self._opened.index().scan())
        )
        self._progress.stage("Checking links", len(pages))
        broken = links.check(pages, anchors_of, told=self._progress.advance)
        cited = sum(map(len, pages.values()))
        return Check(
            "links",
            f"{cited:,} addresses on {len(pages):,} pages exist" if pages else "no page is on the web",
            tuple(_link_findings(broken)),
            time.perf_counter() - began,
            failed=any(one.kind == "not reached" for one in broken),
        )

    @property
    def _opened(self) -> Workspace:
        if self._workspace is None:
            raise RuntimeError("the settings are checked first")
        return self._workspace

    @property
    def _taken(self) -> Inventory:
        if self._inventory is None:
            raise RuntimeError("the stored chunks are read first")
        return self._inventory


AGAIN = "`pertinent index SOURCE`, with the options it was indexed with"

_LINK_REMEDIES: Mapping[links.Kind, str] = {
    "page gone": AGAIN,
    "anchor missing": AGAIN,
    "not reached": "run this again when the site answers",
}


def _link_findings(broken: Iterable[links.BrokenLink]) -> Iterator[Finding]:
    """One for each citation that is wrong, and one for all pages that could not be reached for one reason."""
    unreached: dict[str, list[str]] = defaultdict(list)
    for one in broken:
        if one.kind == "not reached":
            unreached[one.problem].append(one.address)
        else:
            yield Finding(f"{one.address}: {one.problem}", _LINK_REMEDIES[one.kind])
    for problem, (first, *others) in unreached.items():
        more = f" and {len(others):,} more" if others else ""
        yield Finding(f"{first}{more}: {problem}", _LINK_REMEDIES["not reached"])


_REMEDIES: tuple[tuple[type[PertinentError], str], ...] = (
    (NotFound, "`pertinent index SOURCE`"),
    (FingerprintMismatch, "`pertinent reindex`, or the settings that it was made with"),
    (IndexLocked, "end the other process, then run this again"),
    (IndexFailure, "`pertinent reindex`, which makes the index anew from the texts in the catalog"),
    (StoreError, "see that the database runs and can be written, then run this again"),
    (EmbedderError, "see the message, then run this again"),
    (PertinentError, "correct it; `pertinent settings` shows where each value comes from"),
)


def _timed(name: str, look: Look) -> Check:
    began = time.perf_counter()
    failed = False
    try:
        seen, findings = look()
    except PertinentError as error:
        remedy = next(remedy for kind, remedy in _REMEDIES if isinstance(error, kind))
        seen, findings = "", [Finding(str(error), remedy)]
        failed = isinstance(error, StoreError | EmbedderError)
    return Check(name, seen, tuple(findings), time.perf_counter() - began, failed)
