"""Words in sequence: quoted phrases in a passage, as a reader sees it."""

from __future__ import annotations

import pytest

from pertinent.search.phrases import contains_phrases

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
def test_contains_phrases_looks_in_text_and_names(phrases: tuple[str, ...], expected: bool) -> None:
    chunk = make_chunk("page", "Topics", "Quality of service", text=TEXT)
    assert contains_phrases(chunk, phrases) == expected
