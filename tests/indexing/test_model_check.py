"""A model that was replaced under its name is noticed before its vectors are mixed with the stored ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from pertinent._internal.progress import NoProgress
from pertinent.errors import FingerprintMismatch
from pertinent.identity import point_id
from pertinent.indexing.chunking import embedded_text
from pertinent.ports import Vector
from pertinent.settings import Settings
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import readable_chunks
from pertinent.workspace.reindex import reindex
from pertinent.workspace.workspace import Workspace

OLD = page("joints", {"Limits": "A joint has limits."})
NEW = page("motors", {"Torque": "A motor has a torque."})
BOOK = [OLD, NEW, *(page(name, {"Use": f"The {name} is oiled once a month."}) for name in ("hip", "knee"))]


class HostedModel(HashedWords):
    """A model that can be replaced, and that differs slightly from call to call."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.shift, self.noise = 0, 0.0

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        self.texts += texts
        for vector in super().embed_documents(texts):
            changed = np.roll(vector, self.shift)
            changed[0] += self.noise
            yield (changed / np.linalg.norm(changed)).astype(np.float32)


@pytest.fixture
def model() -> HostedModel:
    return HostedModel()


@pytest.fixture
def workspace(tmp_path: Path, model: HostedModel) -> Iterator[Workspace]:
    opened = Workspace(Settings(folder=tmp_path, embedder=model.name, query_cache=0))
    opened._embedder = model
    sync(opened, InMemorySource(OLD))
    assert len(model.texts) == 1
    model.texts.clear()
    yield opened
    opened.close()


def sync(workspace: Workspace, source: InMemorySource) -> None:
    indexer = workspace.create_indexer(NoProgress())
    indexer.apply(indexer.plan(source))


def test_sync_with_a_replaced_model_is_refused_and_changes_nothing(
    workspace: Workspace, model: HostedModel
) -> None:
    model.shift = 1
    with pytest.raises(FingerprintMismatch, match=r"not the one that made the index.*pertinent reindex"):
        sync(workspace, InMemorySource(OLD, NEW))
    assert len(model.texts) == 1
    assert [record.document_id for record in workspace.catalog().pages()] == [OLD.document_id]
    assert workspace.index().count() == 1
    assert not workspace.writable_catalog().pending()


def test_sync_embeds_one_stored_chunk_again_and_accepts_small_differences(
    workspace: Workspace, model: HostedModel
) -> None:
    model.noise = 0.01
    sync(workspace, InMemorySource(OLD, NEW))
    assert len(model.texts) == 2
    assert workspace.index().count() == 2


def test_sync_that_embeds_nothing_checks_nothing(workspace: Workspace, model: HostedModel) -> None:
    model.shift = 1
    sync(workspace, InMemorySource(OLD))
    assert not model.texts


def refuse_build(*_: object) -> None:
    raise RuntimeError("the machine was switched off")


def reindex_until_killed(workspace: Workspace, model: HostedModel, replace_at: int, die_at: int) -> None:
    """Reindex with a model that is replaced at one text, until the process dies at another."""
    embed = model.embed_documents

    def embed_until_killed(texts: Sequence[str]) -> Iterator[Vector]:
        for text in texts:
            if len(model.texts) == die_at:
                raise KeyboardInterrupt
            model.shift = int(len(model.texts) >= replace_at)
            yield from embed([text])

    model.embed_documents = embed_until_killed  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        reindex(workspace, NoProgress())
    del model.embed_documents


@pytest.mark.parametrize(
    ("replace_at", "die_at"), [(9, 3), (2, 3), (9, 9)], ids=["afterwards", "meanwhile", "when complete"]
)
def test_interrupted_reindex_starts_again_with_a_replaced_model(
    workspace: Workspace, model: HostedModel, monkeypatch: pytest.MonkeyPatch, replace_at: int, die_at: int
) -> None:
    monkeypatch.setattr("pertinent.indexing.sync.WRITE_BATCH", 1)
    monkeypatch.setattr(workspace, "create_embedder", lambda: model)
    sync(workspace, InMemorySource(*BOOK))
    model.texts.clear()
    if die_at < len(BOOK):
        reindex_until_killed(workspace, model, replace_at, die_at)
    else:
        with pytest.raises(RuntimeError):
            reindex(workspace, NoProgress(), refuse_build)
    model.shift = 1
    model.texts.clear()
    assert reindex(workspace, NoProgress()) == len(BOOK)
    assert len(model.texts) == 1 + len(BOOK)
    chunks = list(readable_chunks(workspace.index().scan()))
    expected = model.embed_documents([embedded_text(chunk) for chunk in chunks])
    vectors = workspace.index().vectors([point_id(chunk.chunk_id) for chunk in chunks])
    for chunk, vector in zip(chunks, expected, strict=True):
        assert vectors[point_id(chunk.chunk_id)] @ vector == pytest.approx(1, abs=1e-4)


def test_interrupted_reindex_is_resumed_with_the_same_model(
    workspace: Workspace, model: HostedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pertinent.indexing.sync.WRITE_BATCH", 1)
    monkeypatch.setattr(workspace, "create_embedder", lambda: model)
    sync(workspace, InMemorySource(*BOOK))
    model.texts.clear()
    reindex_until_killed(workspace, model, replace_at=9, die_at=3)
    model.texts.clear()
    assert reindex(workspace, NoProgress()) == len(BOOK)
    assert len(model.texts) == 1 + 1, "one to compare the model, and the one that is missing"
