"""The labels of tabs: `<Tabs values={[…]}>` and `<TabItem label="…">`."""

from __future__ import annotations

import re

from .jsx import Tag

_ENTRY = re.compile(r"\{[^{}]*\}")
_PAIR = re.compile(r"\b(label|value)\s*:\s*(?:'([^'\n]*)'|\"([^\"\n]*)\"|`([^`$]*)`)")


def tab_labels(tabs: Tag) -> dict[str, str]:
    """Return the labels in the `values` of a `<Tabs>` tag, by the value of their item."""
    labels = {}
    for entry in _ENTRY.findall(tabs.expressions.get("values", "")):
        pairs = {match[0]: next(filter(None, match[1:]), "") for match in _PAIR.findall(entry)}
        if "value" in pairs:
            labels[pairs["value"]] = pairs.get("label", pairs["value"])
    return labels


def tab_label(item: Tag, labels: dict[str, str]) -> str:
    """Return the label of a `<TabItem>`: from `<Tabs values>`, else its own, else its value."""
    value = item.attributes.get("value") or ""
    return labels.get(value) or item.attributes.get("label") or value
