"""Report files of earlier versions, as they are read today."""

from __future__ import annotations

from typing import Any

MEANS = ("avg_precision_at_5", "mrr", "mrr_first_relevant")


def fill_answerable_means(data: Any) -> Any:
    """Add the `_answerable` means to a report that has them under the names without it."""
    if not isinstance(data, dict) or any(f"{name}_answerable" in data for name in MEANS):
        return data
    return data | {f"{name}_answerable": data[name] for name in MEANS if name in data}
