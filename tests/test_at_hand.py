"""What the engine keeps at hand between searches: never older than the index, never in the way of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from pertinent.engine import NO_CATALOG, NO_EMBEDDER, Engine, Query
from pertinent.errors import CatalogFailure, EmbedderError, InvalidInput
from pertinent.ports import Vector
from pertinent.progress import Silent
from pertinent.settings import Settings
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import Shelf, page
from pertinent.types import Answer
from pertinent.workspace import Workspace

WALKING = "Robots walk on two legs."
FILLER = page("filler", {"": "A gripper holds a cup of tea."}, title="Grippers")


@pytest.fixture
def remembering(workspace: Workspace) -> Iterator[Workspace]:
    """Stores whose engine keeps chunks at hand."""
    opened = Workspace(Settings(**(workspace.settings.model_dump() | {"query_cache": 10})))
    yield opened
    opened.close()


def sync(workspace: Workspace, text: str, title: str) -> None:
    """One page as given, and one that stays as it is."""
    indexer = workspace.indexer(Silent())
    indexer.apply(indexer.plan(Shelf(page("walking", {"": text}, title=title), FILLER)), allow_shrink=True)


def best(engine: Engine, text: str = "robots walk", **options: Any) -> tuple[str, str]:
    """Text and title of the best hit; another top_k makes it a query that was not asked before."""
    chunk = engine.search(Query(text, **options)).hits[0].chunk
    return chunk.text, chunk.title


class Counted:
    """A store that counts what it is asked, and may be told to fail or to do something first."""

    def __init__(self, inner: Any, *counted: str) -> None:
        self._inner = inner
        self._counted = counted
        self.asked: list[tuple[str, int]] = []
        self.afterwards: Callable[[], None] | None = None
        self.error: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._counted:
            return found

        def counted(given: Sequence[object]) -> Any:
            self.asked.append((name, len(given)))
            if self.error is not None:
                raise self.error
            result = found(given)
            if self.afterwards is not None:
                then, self.afterwards = self.afterwards, None
                then()
            return result

        return counted


class Watched:
    """An engine over stores that are counted."""

    def __init__(self, workspace: Workspace) -> None:
        self.index: Any = Counted(workspace.index(), "chunks")
        self.catalog: Any = Counted(workspace.catalog(), "describe")
        self.engine = Engine(HashedWords(), self.index, self.catalog, remembered=10)

    def asked(self) -> list[str]:
        """Which stores were asked since last time."""
        names = [name for name, _ in (*self.index.asked, *self.catalog.asked)]
        self.index.asked.clear()
        self.catalog.asked.clear()
        return names


@pytest.fixture
def watched(remembering: Workspace) -> Watched:
    sync(remembering, WALKING, "Walking")
    return Watched(remembering)


def test_a_chunk_that_was_shown_is_not_read_again_for_another_query(watched: Watched) -> None:
    assert best(watched.engine) == (WALKING, "Walking")
    assert watched.asked() == ["chunks", "describe"]
    assert best(watched.engine, "on two legs") == (WALKING, "Walking")
    assert watched.asked() == []


@pytest.mark.parametrize(
    ("text", "title"), [(WALKING, "How robots walk"), ("Robots walk and run now.", "Walking")]
)
def test_after_a_sync_the_next_answer_shows_the_new_title_and_text(
    remembering: Workspace, text: str, title: str
) -> None:
    sync(remembering, WALKING, "Walking")
    engine = remembering.engine()
    for top_k in (1, 2):
        assert best(engine, top_k=top_k) == (WALKING, "Walking")
    sync(remembering, text, title)
    for top_k in (1, 2, 3):
        assert best(engine, top_k=top_k) == (text, title)
    assert best(engine, top_k=3, anew=True) == (text, title)


def test_a_page_that_is_gone_is_not_answered_from_what_is_at_hand(remembering: Workspace) -> None:
    sync(remembering, WALKING, "Walking")
    engine = remembering.engine()
    assert best(engine) == (WALKING, "Walking")
    indexer = remembering.indexer(Silent())
    indexer.apply(indexer.plan(Shelf(FILLER)), allow_shrink=True)
    assert [hit.chunk.title for hit in engine.search(Query("robots walk")).hits] == ["Grippers"]


def test_a_chunk_that_was_read_before_a_sync_is_not_kept_as_of_after_it(
    remembering: Workspace, watched: Watched
) -> None:
    """A sync runs from start to end while a search is between index and catalog."""

    def moved() -> None:
        indexer = remembering.indexer(Silent())
        indexer.apply(indexer.plan(Shelf(page("walking", {"Legs": WALKING}, title="Walking"), FILLER)))

    watched.index.afterwards = moved
    assert watched.engine.search(Query("robots walk", top_k=1)).hits[0].chunk.section == ""
    assert watched.engine.search(Query("robots walk", top_k=2)).hits[0].chunk.section == "Legs"


def test_a_search_that_another_one_overtakes_shows_what_the_catalog_says(
    remembering: Workspace, watched: Watched
) -> None:
    catalog: Any = vars(remembering.catalog())["_engine"]
    with catalog.begin() as connection:
        connection.exec_driver_sql("UPDATE documents SET title = 'As the catalog has it'")
    watched.index.afterwards = lambda: best(watched.engine, top_k=2) and None
    assert best(watched.engine, top_k=1) == (WALKING, "As the catalog has it")


def test_anew_reads_both_stores_afresh(remembering: Workspace, watched: Watched) -> None:
    best(watched.engine)
    watched.asked()
    catalog: Any = vars(remembering.catalog())["_engine"]
    with catalog.begin() as connection:
        connection.exec_driver_sql("UPDATE documents SET title = 'Behind our back'")
    assert best(watched.engine) == (WALKING, "Walking")
    assert watched.asked() == []
    assert best(watched.engine, anew=True) == (WALKING, "Behind our back")
    assert watched.asked() == ["chunks", "describe"]
    assert best(watched.engine, top_k=2) == (WALKING, "Behind our back")


def test_with_the_catalog_down_only_what_is_at_hand_is_told_in_full(watched: Watched) -> None:
    filler = "a gripper holds a cup"
    engine = watched.engine
    assert engine.search(Query("robots walk", top_k=1)).notes == ()
    watched.catalog.error = CatalogFailure("gone")
    assert engine.search(Query("on two legs", top_k=1)).notes == ()
    partial = engine.search(Query(filler, top_k=1))
    assert partial.notes == (NO_CATALOG,)
    assert partial.hits[0].chunk.title == "Grippers"
    assert engine.search(Query("on two legs", top_k=1, anew=True)).notes == (NO_CATALOG,)
    watched.catalog.error = None
    assert engine.search(Query(filler, top_k=1)).notes == ()


class Parties(HashedWords):
    """Remembers which texts it was handed together."""

    def __init__(self, error: EmbedderError | None = None) -> None:
        super().__init__()
        self.parties: list[list[str]] = []
        self._error = error

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        self.parties.append(list(texts))
        if self._error is not None:
            raise self._error
        return super().embed_queries(texts)


@pytest.fixture
def filled(remembering: Workspace) -> Workspace:
    sync(remembering, WALKING, "Walking")
    return remembering


def test_the_texts_of_a_party_are_embedded_in_one_call(filled: Workspace) -> None:
    embedder = Parties()
    engine = Engine(embedder, filled.index(), filled.catalog(), remembered=10)
    vector = embedder.embed_queries(["robots"])[0]
    embedder.parties.clear()
    known = Query("known")
    engine.search(known)
    party = [Query("robots"), Query(" "), known, Query(None, vector=vector), Query("legs", top_k=1)]
    answers = engine.search_together(party)
    assert embedder.parties == [["known"], ["robots", "legs"]]
    kinds = [type(one) for one in answers]
    assert kinds == [Answer, InvalidInput, Answer, Answer, Answer]


def test_an_embedder_that_fails_fails_each_of_a_party_but_those_content_with_words(filled: Workspace) -> None:
    embedder = Parties(EmbedderError("down"))
    engine = Engine(embedder, filled.index(), filled.catalog(), remembered=10)
    party = [
        Query("robots walk"),
        Query("robots walk", fallback="lexical"),
        Query("two legs", ranking="dense"),
        Query("two legs", ranking="lexical"),
    ]
    refused, by_words, also_refused, asked_for_words = engine.search_together(party)
    assert embedder.parties == [["robots walk", "robots walk", "two legs", "two legs"]]
    assert isinstance(refused, EmbedderError)
    assert isinstance(also_refused, EmbedderError)
    for answer in (by_words, asked_for_words):
        assert isinstance(answer, Answer)
        assert answer.ranking == "lexical"
        assert answer.notes == (NO_EMBEDDER,)
        assert answer.hits[0].chunk.title == "Walking"
