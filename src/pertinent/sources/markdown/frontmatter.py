"""Front matter, cut off and read as Docusaurus 3 does (gray-matter, then YAML 1.2's plain types)."""

from __future__ import annotations

import re
from collections.abc import Hashable
from datetime import date
from typing import TYPE_CHECKING, Any

import yaml

from ...nesting import refuse_deep

if TYPE_CHECKING:
    from yaml import SafeLoader as _Base
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_OPEN = "---"
_LANGUAGES = ("", "yaml", "yml", "json")
_COMMENTS = re.compile(r"^\s*#[^\n]+", re.MULTILINE)


class FrontMatterError(ValueError):
    """The block between the `---` lines can't be read."""


class _Loader(_Base):
    """YAML as js-yaml reads it: `yes`, `no` and `12:30` are text, and a key stands once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002  yaml's signature
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise FrontMatterError(f"the key {key.value!r} stands twice")
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    char: [(tag, pattern) for tag, pattern in resolvers if tag.endswith((":merge", ":timestamp"))]
    for char, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?[0-9][0-9_]*", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        re.compile(rf"^(?:{_pattern})$"),
        ["" if char == "\0" else char for char in _first],
    )


def split(text: str) -> tuple[dict[str, Any], str]:
    """The front matter's fields and the rest; a block that is never closed runs to the end."""
    if not text.startswith(_OPEN) or text.startswith("----"):
        return {}, text
    language, newline, rest = text[len(_OPEN) :].partition("\n")
    if language.strip() not in _LANGUAGES:
        raise FrontMatterError(f"front matter in {language.strip()!r}: only YAML is read")
    block, closed, content = (newline + rest).partition("\n---")
    return _fields(block), content.removeprefix("\n") if closed else ""


def _fields(block: str) -> dict[str, Any]:
    if not _COMMENTS.sub("", block).strip():
        return {}
    try:
        refuse_deep(block, _Loader)
        data = yaml.load(block, Loader=_Loader)  # noqa: S506  a safe loader with fewer types
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FrontMatterError(f"front matter is not valid YAML: {_one_line(error)}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise FrontMatterError("front matter is not a list of `key: value` fields")
    return {str(key): value for key, value in data.items()}


def _one_line(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        # One line for the `---` above the block, one since lines are counted from 1; the block's
        # first character is the line break after `---`.
        return f"{error.problem or 'broken'} (line {error.problem_mark.line + 1})"
    return " ".join(str(error).split())


def text_field(fields: dict[str, Any], name: str) -> str | None:
    """A field that must be text; a number or a date is taken as it is written."""
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | date) and not isinstance(value, bool):
        return str(value)
    raise FrontMatterError(f"front matter field {name!r} is not text but a {type(value).__name__}")


def flag(fields: dict[str, Any], name: str, *, default: bool = False) -> bool:
    """A field that must be true or false."""
    value = fields.get(name, default)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        kind = type(value).__name__  # not the value: its aliases, written out, may fill the memory
        raise FrontMatterError(f"front matter field {name!r} is a {kind}, neither true nor false")
    return value
