"""The labels of `<Tabs>`, which stand in the component's attributes."""

from __future__ import annotations

import re

from .jsx import Tag

_ENTRY = re.compile(r"\{[^{}]*\}")
_PAIR = re.compile(r"\b(label|value)\s*:\s*(?:'([^'\n]*)'|\"([^\"\n]*)\"|`([^`$]*)`)")


def tab_labels(tabs: Tag) -> dict[str, str]:
    """The labels that `<Tabs values={[…]}>` gives its items, by the items' values."""
    labels = {}
    for entry in _ENTRY.findall(tabs.expressions.get("values", "")):
        pairs = {match[0]: next(filter(None, match[1:]), "") for match in _PAIR.findall(entry)}
        if "value" in pairs:
            labels[pairs["value"]] = pairs.get("label", pairs["value"])
    return labels


def tab_label(item: Tag, labels: dict[str, str]) -> str:
    """What the tab of an item says: its parent's label for it, its own, or its value."""
    value = item.attributes.get("value") or ""
    return labels.get(value) or item.attributes.get("label") or value
