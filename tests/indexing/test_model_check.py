"""A model that was replaced under its name is noticed before its vectors are mixed with the stored ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from pertinent._internal.progress import NoProgress
from pertinent.errors import FingerprintMismatch
from pertinent.ports import Vector
from pertinent.settings import Settings
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import InMemorySource, page
from pertinent.workspace.workspace import Workspace

OLD = page("joints", {"Limits": "A joint has limits."})
NEW = page("motors", {"Torque": "A motor has a torque."})


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
