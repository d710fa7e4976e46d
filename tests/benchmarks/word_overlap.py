"""A peer without dependencies: ranks documents by the number of words that they share with the query."""

from __future__ import annotations

from collections.abc import Sequence

from peers import protocol


class WordOverlap:
    packages = ("numpy",)

    def __init__(self, task: protocol.Task) -> None:
        self._task = task

    def build(self) -> None:
        self._words = {document.id: set(document.text.lower().split()) for document in self._task.documents}

    def refresh(self) -> None:
        self.build()

    def search(self, text: str, vector: protocol.Vector) -> Sequence[str]:
        assert vector.shape
        query = set(text.lower().split())
        return sorted(self._words, key=lambda name: -len(self._words[name] & query))


if __name__ == "__main__":
    protocol.main(WordOverlap)
