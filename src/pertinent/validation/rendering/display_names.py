"""The names that a report shows for states, reasons, labels and measures."""

from __future__ import annotations

from ..diagnosis import FailureKind

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

STATUSES = {"failed": "failed", "error": "error", "passed": "passed", "refused": "refused, as expected"}

FACTS = {
    "golden": "Golden set fingerprint",
    "corpus": "Corpus fingerprint",
    "pertinent": "Version",
    "lexical": "Lexical settings",
}
"""The names of a report's fingerprints, where the field's own name says too little."""

STATES = {True: "met", False: "not met", None: "not judged"}
"""The states of a criterion or a check, by its `passed`."""

LABELS = {2: "answers", 1: "partly answers", 0: "not relevant"}

REASONS: dict[FailureKind, str] = {
    "error": "The search failed",
    "refused": "The query was refused",
    "false_answer": "A query without an answer got one",
    "lost_labels": "Its labels are lost",
    "not_indexed": "The answer is missing from the index",
    "changed": "The index has a different text",
    "filtered_out": "Its filter keeps the answer out",
    "below_threshold": "The answer scores below the threshold",
    "crowded_out": "Repeated text fills the first results",
    "outranked": "The answer ranks too low",
    "not_found": "The answer was not found",
    "unjudged": "Too many results are unjudged",
    "few_labels": "Too few passages are labelled",
    "other": "Another reason",
}

_FAMILIES = {
    "p": ("P", "the share of the first {k} results that are relevant"),
    "rr": ("RR", "one divided by the rank of the first relevant result"),
    "rr_full": ("RR full", "one divided by the rank of the first full answer"),
    "rr_best": ("RR best", "one divided by the rank of the first result with the highest label"),
    "ndcg": ("nDCG", "the gain of the first {k} results, relative to the best order that the labels allow"),
    "map": ("MAP", "the mean of the precision at the rank of each relevant result"),
    "recall": ("Recall", "the share of the relevant passages that are in the first {k}"),
    "rcap": (
        "Capped recall",
        "relevant results in the first {k}, divided by the answers or by {k}, whichever is fewer",
    ),
    "success": ("Success", "whether any of the first {k} results is relevant"),
    "judged": ("Judged", "the share of the first {k} results that have a label"),
    "span_recall": ("Span recall", "the share of the labelled text that the first {k} results cover"),
}


def measure_name(name: str) -> str:
    """Return the name of a measure as the literature writes it: `nDCG@10` for `ndcg@10`."""
    family, at, k = name.partition("@")
    return f"{_FAMILIES[family][0]}{at}{k}" if family in _FAMILIES else name


def measure_meaning(name: str) -> str:
    """Explain what a measure measures; empty for an unknown one."""
    family, _, k = name.partition("@")
    return _FAMILIES[family][1].format(k=k or "results") if family in _FAMILIES else ""
