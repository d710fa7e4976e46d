"""Fifty queries at once, with the real model: in company each is answered as it is alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from pertinent.ports import Vector
from pertinent.settings import Settings
from pertinent.surfaces.http import create_app
from pertinent.surfaces.library import Pertinent
from pertinent.workspace.workspace import Workspace

from .conftest import TOPICS, fill, settings_in

pytestmark = pytest.mark.slow  # the real model embeds hundreds of queries

WAYS = (
    "{topic} of {part}",
    "How is the {topic} of {part} measured?",
    "{part} {topic}",
    "what keeps the {topic} of all {part} of a humanoid robot within its limits, and what happens to the "
    "controller of the {part} when a {topic} sensor breaks while the robot walks down a flight of stairs",
)
QUERIES = [
    way.format(topic=topic, part=part)
    for topic in TOPICS
    for part in ("joints", "motors", "gears")
    for way in WAYS
][:50]
"""From 4 to 50 tokens long, short and long in turn."""


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The book, embedded by the model that is used unless another is chosen."""
    model = Settings.model_fields["embedder"].default
    folder = tmp_path_factory.mktemp("modelled")
    workspace = Workspace(settings_in(Path(folder), embedder=model))
    yield fill(workspace)
    workspace.close()


@pytest.mark.parametrize("ranking", ["hybrid", "dense"])
def test_fifty_queries_at_once_get_the_hits_and_scores_that_each_gets_alone(
    modelled: Workspace, monkeypatch: pytest.MonkeyPatch, ranking: str
) -> None:
    parties: list[int] = []
    embed = modelled.embedder().embed_queries

    def counted(texts: Sequence[str]) -> list[Vector]:
        parties.append(len(texts))
        return embed(texts)

    monkeypatch.setattr(modelled.embedder(), "embed_queries", counted)
    app = create_app(Pertinent(modelled))

    async def both() -> tuple[list[Any], list[Any]]:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://service") as client:

            async def ask(text: str) -> Any:
                body = {"query": text, "top_k": 20, "ranking": ranking}
                answer = await client.post("/search", json=body, timeout=60)
                assert answer.status_code == 200, answer.text
                return answer.json()

            alone = [await ask(text) for text in QUERIES]
            assert parties == [1] * len(QUERIES)
            return alone, await asyncio.gather(*map(ask, QUERIES))

    alone, together = asyncio.run(both())
    app.state.service.threads.shutdown()
    assert max(parties) > 1
    assert len({one["query"] for one in alone}) == len(QUERIES)
    for one, other in zip(alone, together, strict=True):
        assert one["query"] == other["query"]
        assert [hit["chunk_id"] for hit in one["results"]] == [hit["chunk_id"] for hit in other["results"]]
        scores = [hit["score"] for hit in other["results"]]
        assert [hit["score"] for hit in one["results"]] == pytest.approx(scores, rel=0, abs=1e-6)
