"""Words in sequence: quoted phrases in a passage, as a reader sees it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pertinent.search import phrases as phrases_module
from pertinent.search.phrases import Phrases
from pertinent.search.terms import fold

from .test_ranking import make_chunk

TEXT = "Reliable, or **best**\n`effort`. Read [on](/a/b) about _sockets_. 全文検索の設定。"


@pytest.mark.parametrize(
    ("phrases", "expected"),
    [
        ((), True),
        (("best effort",), True),
        (("BEST   Effort",), True),
        (("effort best",), False),
        (("quality of service", "best effort"), True),
        (("best effort", "zebra"), False),
        (("topics",), True),
        (("use `best` effort",), False),
        (("reliable or best effort",), True),
        (("Read on about sockets",), True),
        (("liable or best",), False),
        (("best effort 設定",), False),
        (("全文検索 の設定",), True),
    ],
)
def test_phrases_are_looked_up_in_text_and_names(phrases: tuple[str, ...], expected: bool) -> None:
    chunk = make_chunk("page", "Topics", "Quality of service", text=TEXT)
    assert Phrases(phrases).match(chunk) == expected


def test_chunks_with_the_same_id_are_told_apart() -> None:
    phrases = Phrases(["best effort"])
    chunk = make_chunk("page", "Topics", "Quality of service", text=TEXT)
    assert not phrases.match(replace(chunk, text="Another text of an external collection."))
    assert phrases.match(chunk)


def test_each_chunk_is_folded_once_for_all_phrases(monkeypatch: pytest.MonkeyPatch) -> None:
    phrases = Phrases([*(f"best effort {number}" for number in range(200)), "best effort", "best effort"])
    folded: list[str] = []

    def count_and_fold(text: str) -> str:
        folded.append(text)
        return fold(text)

    monkeypatch.setattr(phrases_module, "fold", count_and_fold)
    chunks = [make_chunk(name, "Topics", "Quality of service", text=TEXT) for name in ("first", "second")]
    for _ in range(3):
        assert not any(map(phrases.match, chunks))
    assert len(folded) == len(chunks)
