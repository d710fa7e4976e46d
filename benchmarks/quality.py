"""Retrieval quality on a BEIR folder: nDCG@10 of each ranking, a document counted by its best chunk."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import reliability
from pertinent.limits import RANKINGS
from pertinent.surfaces.library import Pertinent


def measure(folder: Path) -> dict[str, Any]:
    qrels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        qrels.setdefault(query, {})[document] = int(grade)
    rows = map(json.loads, (folder / "queries.jsonl").read_text().splitlines())
    queries = {row["_id"]: row["text"] for row in rows if row["_id"] in qrels}
    figures: dict[str, Any] = {"queries": len(queries)}
    with tempfile.TemporaryDirectory() as data_folder, Pertinent.open(data_folder) as opened:
        figures["chunks"] = opened.index(f"beir:{folder}").chunks_added
        for ranking in RANKINGS:
            answers = opened.search_many(list(queries.values()), top_k=100, ranking=ranking)
            scores = [
                ndcg([hit.chunk.source_path for hit in answer.hits], qrels[query])
                for query, answer in zip(queries, answers, strict=True)
            ]
            figures[f"ndcg@10_{ranking}"] = round(sum(scores) / len(scores), 4)
            if ranking == "hybrid":
                figures["reliability"] = reliability.count_bins(
                    (answer.hits[0].score, qrels[query].get(answer.hits[0].chunk.source_path, 0) > 0)
                    for query, answer in zip(queries, answers, strict=True)
                    if answer.hits
                )
    return figures


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    documents = list(dict.fromkeys(ranked))[:k]
    gain = sum(grades.get(document, 0) / math.log2(rank + 2) for rank, document in enumerate(documents))
    best = sorted(grades.values(), reverse=True)[:k]
    return gain / sum(grade / math.log2(rank + 2) for rank, grade in enumerate(best))
