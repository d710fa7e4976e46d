"""Reindex with another model or chunk size: the gate, activation, rollback and resuming."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from typer.testing import CliRunner

from pertinent import build
from pertinent.errors import FingerprintMismatch, IndexFailure, NotFound, SyncRefused
from pertinent.indexing.sync import Indexer
from pertinent.stores.edge import EdgeIndex
from pertinent.surfaces.cli.app import app
from pertinent.surfaces.library import Pertinent
from pertinent.testing.embedder import HashedWords
from pertinent.types import readable_chunks
from pertinent.workspace.matching_settings import settings_matching_index

pytestmark = pytest.mark.slow  # every test makes two indexes

NAMES = ("gripper", "knee", "camera", "battery")
PARTS = ("hinge", "spring", "cable", "shaft", "bearing", "motor")
OTHER = "onnx:other"


class Other(HashedWords):
    """Another model, as good as the first: the same directions, the other way round."""

    name = OTHER

    def embed_queries(self, texts: Any) -> Any:
        return [-vector for vector in super().embed_queries(texts)]

    def embed_documents(self, texts: Any) -> Iterator[Any]:
        return (-vector for vector in super().embed_documents(texts))


class Noise(Other):
    """A model that knows nothing: every text has a vector of its own, near to none."""

    def embed_queries(self, texts: Any) -> Any:
        return [self._noise(text) for text in texts]

    def embed_documents(self, texts: Any) -> Iterator[Any]:
        return (self._noise(text[::-1] * 3) for text in texts)

    def _noise(self, text: str) -> Any:
        vector = np.random.default_rng(len(text)).standard_normal(self.dimension).astype(np.float32)
        return vector / np.linalg.norm(vector)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in NAMES:
        parts = "\n\n".join(
            f"## The {part}\n\nThe {part} of the {name} belongs to the {name} alone.\n\nWhoever builds a "
            f"{name} checks the {part} of that {name} twice.\n\nOnce a month it is oiled, and looked at by "
            f"somebody who knows the {name} well, the {part} and all that the {name} is made of."
            for part in PARTS
        )
        (folder / f"{name}.md").write_text(f"# The {name}\n\n{parts}\n")
    return folder


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    lines = ["version: 1", "queries:"]
    for name in NAMES:
        lines += [f"  - id: {name}", f"    text: the hinge of the {name}", "    labels:"]
        lines += [f"      - {{page: docs/{name}.md, anchor: the-{part}, grade: 1}}" for part in PARTS]
    path = tmp_path / "golden.yaml"
    path.write_text("\n".join(lines))
    return path


def opened(tmp_path: Path, **settings: Any) -> Pertinent:
    usual = {"embedder": "testing:hashed-words", "chunk_tokens": 120, "query_cache": 0, "ranking": "dense"}
    return Pertinent.open(tmp_path / "data", **{**usual, **settings})


@pytest.fixture
def indexed(tmp_path: Path, docs: Path, golden: Path) -> Path:
    with opened(tmp_path) as pertinent:
        pertinent.index(docs, base_url="https://parts.example/docs", name="docs")
        paths = {page.source_path for page in pertinent.pages()}
    text = golden.read_text()
    for path in paths:
        text = text.replace(f"docs/{Path(path).name}", path)
    golden.write_text(text)
    return tmp_path


def use(monkeypatch: pytest.MonkeyPatch, model: type[HashedWords]) -> None:
    """Have the name of the other model stand for this one."""
    usual = build._choose_embedder
    monkeypatch.setattr(
        build, "_choose_embedder", lambda settings: model() if settings.embedder == OTHER else usual(settings)
    )


def hits(pertinent: Pertinent, text: str = "the hinge of the knee") -> list[str]:
    return [hit.chunk.chunk_id for hit in pertinent.search(text).hits]


def builds(tmp_path: Path) -> list[str]:
    return sorted(folder.name for folder in (tmp_path / "data" / "index").iterdir())


def test_reindex_gate_activates_a_model_that_is_no_worse(
    indexed: Path, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Other)
    messages: list[str] = []
    with opened(indexed, embedder=OTHER) as pertinent:
        assert pertinent.reindex(golden=golden, notify=messages.append) == 24
        assert hits(pertinent)
    assert [line.partition(":")[0] for line in messages] == ["new", "old"]
    assert all("PASS" in line for line in messages)


def test_gate_refuses_a_failing_model(indexed: Path, golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Noise)
    with opened(indexed) as before:
        usual = hits(before)
    with opened(indexed, embedder=OTHER) as pertinent, pytest.raises(SyncRefused, match="FAIL"):
        pertinent.reindex(golden=golden)
    assert builds(indexed) == ["001"]
    with opened(indexed) as after:
        assert hits(after) == usual


def test_reindex_gate_refuses_a_significantly_worse_model(
    indexed: Path, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Noise)
    lenient = "criteria: {queries_reaching: 0.0, mrr: 0.01}\n"
    queries = golden.read_text().partition("queries:\n")[2]
    twice = queries + "\n" + queries.replace("id: ", "id: again-").replace("hinge of", "spring of")
    golden.write_text(f"version: 1\n{lenient}queries:\n{twice}")
    with opened(indexed, embedder=OTHER) as pertinent, pytest.raises(SyncRefused, match="is worse"):
        pertinent.reindex(golden=golden)
    assert builds(indexed) == ["001"]


def test_half_deleted_build_is_no_previous_build(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def delete_a_part(folder: Path, **_options: object) -> None:
        next(Path(folder).rglob("mutable_id_tracker.mappings")).unlink()
        raise KeyboardInterrupt

    with opened(indexed, chunk_tokens=30) as pertinent:
        pertinent.reindex()
        monkeypatch.setattr("shutil.rmtree", delete_a_part)
        with pytest.raises(KeyboardInterrupt):
            pertinent.drop_previous()
        monkeypatch.undo()
        with pytest.raises(NotFound, match="no previous build"):
            pertinent.rollback()
        assert pertinent.drop_previous()
        assert builds(indexed) == ["002"]


def test_previous_build_is_kept_until_dropped(indexed: Path) -> None:
    with opened(indexed, chunk_tokens=30) as pertinent:
        pertinent.reindex()
        assert builds(indexed) == ["001", "002"]
        assert pertinent.drop_previous()
        assert not pertinent.drop_previous()
        assert builds(indexed) == ["002"]
        assert hits(pertinent)
        with pytest.raises(NotFound, match="no previous build"):
            pertinent.rollback()


def test_number_of_a_deleted_build_is_not_used_again(indexed: Path) -> None:
    with opened(indexed) as pertinent:
        pertinent.reindex()
        pertinent.rollback()
        assert pertinent.drop_previous()
        assert builds(indexed) == ["001"]
        pertinent.reindex()
        assert builds(indexed) == ["001", "003"]
        assert hits(pertinent)


def test_only_one_previous_build_is_kept(indexed: Path) -> None:
    for tokens in (30, 40, 50):
        with opened(indexed, chunk_tokens=tokens) as pertinent:
            pertinent.reindex()
    assert builds(indexed) == ["003", "004"]


def test_rollback_restores_the_previous_build(indexed: Path) -> None:
    with opened(indexed) as pertinent:
        before, chunks = hits(pertinent), list(pertinent.workspace.index().scan())
    with opened(indexed, chunk_tokens=20) as pertinent:
        assert pertinent.reindex() > len(chunks)
        assert pertinent.rollback() == "testing:hashed-words"
    with opened(indexed) as pertinent:
        assert hits(pertinent) == before
        assert {c.chunk_id for c in pertinent.workspace.index().scan()} == {c.chunk_id for c in chunks}
        assert sum(page.chunks for page in pertinent.pages()) == len(chunks)
    with opened(indexed, chunk_tokens=25) as pertinent, pytest.raises(FingerprintMismatch):
        hits(pertinent)


def test_pages_are_complete_after_a_rollback_if_nothing_was_synced(indexed: Path, docs: Path) -> None:
    with opened(indexed, chunk_tokens=25) as pertinent:
        for _ in range(3):
            pertinent.reindex()
            pertinent.rollback()
            assert pertinent.workspace.writable_catalog().pending() == []
        (docs / "knee.md").write_text("# The knee\n\nThe knee has a new hinge of brass.\n")
        pertinent.rollback()
        pertinent.index(docs, base_url="https://parts.example/docs", name="docs")
        pertinent.rollback()
        assert len(pertinent.workspace.writable_catalog().pending()) == len(NAMES)


def test_rollback_can_be_rolled_back(indexed: Path) -> None:
    with opened(indexed, chunk_tokens=25) as pertinent:
        pertinent.reindex()
        after = hits(pertinent)
        pertinent.rollback()
        pertinent.rollback()
        assert hits(pertinent) == after


def test_sync_after_a_rollback_repeats_later_changes(indexed: Path, docs: Path) -> None:
    with opened(indexed, chunk_tokens=25) as pertinent:
        pertinent.reindex()
        (docs / "knee.md").write_text("# The knee\n\n## The hinge\n\nThe knee has a new hinge of brass.\n")
        (docs / "ankle.md").write_text("# The ankle\n\n## The hinge\n\nThe ankle has a hinge as well.\n")
        (docs / "camera.md").unlink()
        pertinent.index(docs, base_url="https://parts.example/docs", name="docs")
        pertinent.rollback()
    with opened(indexed) as pertinent:
        summary = pertinent.index(docs, base_url="https://parts.example/docs", name="docs")
        # Every page is looked at, and only what is new is embedded.
        assert summary.chunks_added == 2
        assert pertinent.workspace.writable_catalog().pending() == []
        texts = {chunk.text for chunk in readable_chunks(pertinent.workspace.index().scan())}
        assert "The knee has a new hinge of brass." in texts
        assert "The ankle has a hinge as well." in texts
        assert not any("camera" in text for text in texts)


def test_old_build_answers_during_a_reindex(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    with opened(indexed) as pertinent:
        usual = hits(pertinent)

        class Watching(Other):
            def embed_documents(self, texts: Any) -> Iterator[Any]:
                for vector in super().embed_documents(texts):
                    seen.append(hits(pertinent))
                    yield vector

        use(monkeypatch, Watching)
        other_settings = pertinent.workspace.settings.model_copy(update={"embedder": OTHER})
        engine = pertinent.workspace.engine()
        pertinent.workspace.settings = other_settings
        pertinent.workspace._models._embedder = Watching()
        assert engine is pertinent.workspace.engine()
        pertinent.reindex()
    assert len(seen) == 24
    assert all(result == usual for result in seen)


def test_sync_after_a_rollback_repeats_added_text(indexed: Path, docs: Path) -> None:
    with opened(indexed, chunk_tokens=20) as pertinent:
        pertinent.reindex()
        with (docs / "knee.md").open("a") as file:
            file.write("\n## The warranty\n\nA knee is guaranteed for ten years.\n")
        pertinent.index(docs, base_url="https://parts.example/docs", name="docs")
        pertinent.rollback()
    with opened(indexed) as pertinent:
        pertinent.index(docs, base_url="https://parts.example/docs", name="docs")
        texts = {chunk.text for chunk in readable_chunks(pertinent.workspace.index().scan())}
        assert "## The warranty\n\nA knee is guaranteed for ten years." in texts


def test_rollback_refuses_a_lost_build(indexed: Path) -> None:
    shutil.rmtree(indexed / "data" / "index")
    with opened(indexed) as pertinent:
        pertinent.reindex()
        usual = hits(pertinent)
        with pytest.raises(NotFound, match="there is no previous build"):
            pertinent.rollback()
        assert hits(pertinent) == usual


def test_rollback_keeps_a_new_title(indexed: Path, docs: Path) -> None:
    with opened(indexed, chunk_tokens=20) as pertinent:
        pertinent.reindex()
        (docs / "knee.md").write_text("# The other knee\n\n## The hinge\n\nThe knee has a hinge.\n")
        pertinent.index(docs, base_url="https://parts.example/docs", name="docs")
        pertinent.rollback()
    with opened(indexed) as pertinent:
        pertinent.index(docs, base_url="https://parts.example/docs", name="docs")
        (best, *_) = pertinent.search("hinge of the other knee").hits
        assert best.chunk.title == "The other knee"
        assert pertinent.workspace.writable_catalog().pending() == []


def test_rollback_refuses_a_build_of_other_pages(indexed: Path, docs: Path) -> None:
    with opened(indexed, chunk_tokens=20) as pertinent:
        pertinent.reindex()
        pertinent.index(docs, base_url="https://other.example/docs", name="docs", allow_shrink=True)
        usual = hits(pertinent)
        with pytest.raises(NotFound, match="none of the current pages"):
            pertinent.rollback()
        assert pertinent.workspace.writable_catalog().pending() == []
        assert (hits(pertinent), bool(usual)) == (usual, True)


def test_interruption_keeps_the_activated_build(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(indexed, chunk_tokens=20) as pertinent:
        catalog: Any = pertinent.workspace.catalog()
        activate_build = type(catalog).activate_build

        def stopped(self: Any, *arguments: Any) -> None:
            activate_build(self, *arguments)
            raise KeyboardInterrupt

        monkeypatch.setattr(type(catalog), "activate_build", stopped)
        with pytest.raises(KeyboardInterrupt):
            pertinent.reindex()
    with opened(indexed, chunk_tokens=20) as pertinent:
        assert hits(pertinent)


class Paid(Other):
    """Counts the texts that all runs together paid for, and may die at one of them."""

    texts: list[str] = []  # noqa: RUF012 - the runs share it on purpose
    calls: list[int] = []  # noqa: RUF012
    dies_at: int | None = None

    def embed_documents(self, texts: Any) -> Iterator[Any]:
        self.calls.append(len(texts))
        for text, vector in zip(texts, super().embed_documents(texts), strict=True):
            if len(self.texts) == self.dies_at:
                raise KeyboardInterrupt
            self.texts.append(text)
            yield vector


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> type[Paid]:
    use(monkeypatch, Paid)
    monkeypatch.setattr(Paid, "texts", [])
    monkeypatch.setattr(Paid, "calls", [])
    monkeypatch.setattr(Paid, "dies_at", None)
    return Paid


def die(tmp_path: Path, paid: type[Paid], at: int) -> None:
    paid.dies_at = at
    with opened(tmp_path, embedder=OTHER, chunk_tokens=20) as pertinent, pytest.raises(KeyboardInterrupt):
        pertinent.reindex()
    paid.dies_at = None


def test_interrupted_reindex_is_resumed(indexed: Path, paid: type[Paid]) -> None:
    die(indexed, paid, 70)
    assert builds(indexed) == ["001", "002"]
    with opened(indexed) as before:
        assert hits(before)
    die(indexed, paid, 75)
    with opened(indexed, embedder=OTHER, chunk_tokens=20) as pertinent:
        chunks = pertinent.reindex()
        assert builds(indexed) == ["001", "002"]
        assert pertinent.workspace.index().count() == chunks == sum(page.chunks for page in pertinent.pages())
        assert hits(pertinent)
    assert len(set(paid.texts)) == chunks
    # What was embedded and not written yet when it died is lost: 70 are two batches and 6, then 4 more. Each
    # time it is resumed, one chunk is embedded again, to compare the model.
    assert len(paid.texts) == chunks + 6 + 4 + 2


def test_resumed_reindex_has_the_current_pages(indexed: Path, docs: Path, paid: type[Paid]) -> None:
    die(indexed, paid, 70)
    (docs / "battery.md").unlink()
    (docs / "camera.md").write_text("# The camera\n\n## The lens\n\nThe camera has a lens of glass.\n")
    with opened(indexed) as pertinent:
        pertinent.index(docs, base_url="https://parts.example/docs", name="docs")
    with opened(indexed, embedder=OTHER, chunk_tokens=20) as pertinent:
        pertinent.reindex()
        inside = sorted(chunk.chunk_id for chunk in pertinent.workspace.index().scan())
        catalog = pertinent.workspace.catalog()
        assert inside == sorted(c.chunk_id for p in catalog.pages() for c in catalog.chunks(p.document_id))


def test_interrupted_build_of_other_settings_is_not_resumed(indexed: Path, paid: type[Paid]) -> None:
    die(indexed, paid, 70)
    with opened(indexed, chunk_tokens=20) as pertinent:
        pertinent.reindex()
        assert hits(pertinent)
    assert builds(indexed) == ["001", "003"]


def test_damaged_interrupted_build_is_started_again(indexed: Path, paid: type[Paid]) -> None:
    die(indexed, paid, 70)
    (indexed / "data" / "index" / "002" / "edge_config.json").write_text("{")
    with opened(indexed, embedder=OTHER, chunk_tokens=20) as pertinent:
        pertinent.reindex()
        assert hits(pertinent)


def test_reindex_keeps_a_build_that_can_not_be_opened_now(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_build = EdgeIndex.open

    def fail_on_the_first(folder: Path, *arguments: Any) -> EdgeIndex:
        if folder.name == "001":
            raise IndexFailure("too many open files")
        return open_build(folder, *arguments)

    with opened(indexed) as pertinent, monkeypatch.context() as patch:
        patch.setattr(EdgeIndex, "open", fail_on_the_first)
        patch.setattr(Indexer, "rebuild", Mock(side_effect=IndexFailure("too many open files")))
        with pytest.raises(IndexFailure, match="too many"):
            pertinent.reindex()
    with opened(indexed) as pertinent:
        assert hits(pertinent)
    with opened(indexed) as pertinent:
        monkeypatch.setattr(EdgeIndex, "open", fail_on_the_first)
        pertinent.reindex()
        monkeypatch.undo()
        assert hits(pertinent)
        pertinent.rollback()
        assert hits(pertinent)


def test_reindex_embeds_chunks_of_several_pages_in_one_batch(indexed: Path, paid: type[Paid]) -> None:
    with opened(indexed, embedder=OTHER) as pertinent:
        assert pertinent.reindex() == 24
    assert paid.calls == [24]


def test_index_of_another_version_is_no_matter_of_settings(indexed: Path) -> None:
    with opened(indexed) as pertinent:
        catalog = pertinent.workspace.writable_catalog()
        current = catalog.fingerprint()
        assert current is not None
        catalog.set_fingerprint(
            replace(current, chunker=current.chunker.replace("structure-", "structure-0"))
        )
        assert settings_matching_index(pertinent.workspace) == []
        with pytest.raises(FingerprintMismatch, match=r"in the settings\. Rebuild the index"):
            pertinent.search("hinge")


@pytest.mark.parametrize(
    ("changed", "needed"),
    [
        ({"chunk_tokens": 20}, ["chunk_tokens = 120"]),
        ({"embedder": OTHER}, ['embedder = "testing:hashed-words"']),
        ({"language": "german"}, ['language = "english"']),
        (
            {"embedder": OTHER, "chunk_tokens": 20},
            ['embedder = "testing:hashed-words"', "chunk_tokens = 120"],
        ),
    ],
)
def test_settings_matching_index_names_changed_settings(
    indexed: Path, changed: dict[str, Any], needed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Other)
    with opened(indexed, **changed) as pertinent:
        pertinent.reindex()
        assert settings_matching_index(pertinent.workspace) == []
        pertinent.rollback()
        assert settings_matching_index(pertinent.workspace) == needed
    settings = {"embedder": "testing:hashed-words", "chunk_tokens": 120, **changed}
    for name, value in settings.items():
        monkeypatch.setenv(f"PERTINENT_{name.upper()}", str(value))
    rolled = CliRunner().invoke(app, ["--folder", str(indexed / "data"), "reindex", "--rollback"])
    # Back to the one of the present settings.
    assert rolled.stdout == "The previous index is in use again.\n"
    rolled = CliRunner().invoke(app, ["--folder", str(indexed / "data"), "reindex", "--rollback"])
    assert rolled.stdout.splitlines()[1:] == ["To search it, set:", *(f"  {line}" for line in needed)]
