"""How deep YAML may be nested: where libyaml runs out of stack it ends the process, without an exception."""

from __future__ import annotations

import yaml

DEEPEST = 100


def refuse_deep(text: str, loader: type[yaml.SafeLoader]) -> None:
    """Raise a YAMLError, also where the text is no YAML at all."""
    depth = 0
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise yaml.YAMLError(f"it is nested more than {DEEPEST} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
