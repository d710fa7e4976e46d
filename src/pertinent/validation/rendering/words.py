"""The words of a report: what its signs, reasons and measures mean."""

from __future__ import annotations

from ..diagnosis import Kind

TYPES = ("specific", "broad", "paraphrase", "edge")
CATEGORIES = ("factual", "conceptual", "contextual")

SIGNS = {
    "PASS": "✓",
    "FAIL": "✕",
    "INVALID": "?",
    "passed": "✓",
    "failed": "✕",
    "error": "!",
    "refused": "✓",
    "met": "✓",
    "not met": "✕",
    "not judged": "–",
}

STATUSES = {
    "failed": "failed",
    "error": "error",
    "passed": "passed",
    "refused": "refused, as expected",
}

FACTS = {
    "golden": "Golden set, by its content",
    "corpus": "Corpus, by its content",
    "pertinent": "Version",
    "lexical": "Words",
}
"""What a run is remembered by, where its own name says too little."""

STATES = {True: "met", False: "not met", None: "not judged"}
"""What became of a criterion or a check; one that has nothing to check is not judged."""

LABELS = {2: "answers", 1: "in part", 0: "of no use"}

REASONS: dict[Kind, str] = {
    "error": "The search failed",
    "refused": "The query was refused",
    "false_answer": "It has no answer, but got one",
    "lost_labels": "Its labels are lost",
    "not_indexed": "The answer is missing from the index",
    "changed": "The index has another text",
    "filtered_out": "Its filter keeps the answer out",
    "below_threshold": "The answer scores below the threshold",
    "crowded_out": "Repeated text takes the places",
    "outranked": "The answer stands too low",
    "not_found": "The answer was not found",
    "unjudged": "Too many results are unjudged",
    "few_labels": "Too few passages are labelled",
    "other": "Another reason",
}

_FAMILIES = {
    "p": ("P", "the share of the first {k} results that is relevant"),
    "rr": ("RR", "one divided by the rank of the first relevant result"),
    "rr_full": ("RR full", "one divided by the rank of the first full answer"),
    "rr_best": (
        "RR best",
        "one divided by the rank of the first result with the highest label",
    ),
    "ndcg": ("nDCG", "how near the order of the first {k} comes to the best one that the labels allow"),
    "map": ("MAP", "the mean of the precision at the rank of each relevant result"),
    "recall": ("Recall", "the share of all that is relevant that the first {k} hold"),
    "rcap": ("Capped recall", "recall, where a query with more than {k} answers can reach 1 too"),
    "success": ("Success", "whether anything among the first {k} is relevant"),
    "judged": ("Judged", "the share of the first {k} that anybody has judged"),
    "span_recall": ("Span recall", "the share of the labelled text that the first {k} hold"),
}


def measure(name: str) -> str:
    """A measure as the literature writes it: `ndcg@10` is nDCG@10."""
    family, at, k = name.partition("@")
    return f"{_FAMILIES[family][0]}{at}{k}" if family in _FAMILIES else name


def meaning(name: str) -> str:
    """What a measure measures; nothing for one that is not known here."""
    family, _, k = name.partition("@")
    return _FAMILIES[family][1].format(k=k or "results") if family in _FAMILIES else ""
