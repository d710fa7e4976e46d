"""A limit for nested YAML: libyaml overflows its stack and ends the process, without an exception."""

from __future__ import annotations

import yaml

MAX_DEPTH = 100


def check_depth(text: str, loader: type[yaml.SafeLoader]) -> None:
    """Raise a YAMLError if the text is nested too deeply, or is not YAML."""
    depth = 0
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise yaml.YAMLError(f"it is nested more than {MAX_DEPTH} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
