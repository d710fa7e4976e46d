"""Front matter: the YAML block at the top of a page, read as Docusaurus 3 reads it (gray-matter, js-yaml)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

import yaml

from ..._internal.safe_yaml import check_depth
from ...types import FrontMatter
from ..front_matter import split_keywords

if TYPE_CHECKING:
    from yaml import SafeLoader as _Base
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_OPEN = "---"
_CLOSE = "\n---"
_LANGUAGES = ("", "yaml", "yml", "json")
_MAX_FIELDS = 100_000
_MAX_DIGITS = 100  # of a number
_COMMENTS = re.compile(r"^[^\S\n]*#[^\n]+", re.MULTILINE)


class FrontMatterError(ValueError):
    """The front matter of a page can't be read."""


class _Loader(_Base):
    """YAML as js-yaml 3 reads it: `yes`, `12:30` and `08` are text, and a key appears only once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002  yaml's signature
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise FrontMatterError(f"the key {key.value!r} appears twice")
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Resolve the merge keys (`<<`) of a mapping; those of merged mappings may double it each time."""
        super().flatten_mapping(node)
        if len(node.value) > _MAX_FIELDS:
            raise FrontMatterError(f"its merge keys expand to more than {_MAX_FIELDS} fields")

    def construct_number(self, node: yaml.ScalarNode) -> Any:
        """Return a number, or the text of a very long one: Python can't turn it into text again."""
        if len(node.value) > _MAX_DIGITS:
            return self.construct_scalar(node)
        is_int = node.tag.endswith(":int")
        return self.construct_yaml_int(node) if is_int else self.construct_yaml_float(node)

    def construct_date(self, node: yaml.ScalarNode) -> Any:
        """Return a date, or the text of one that no calendar has, such as `2024-02-30`."""
        try:
            return self.construct_yaml_timestamp(node)
        except ValueError:
            return self.construct_scalar(node)


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_date)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_number)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_number)
_Loader.yaml_implicit_resolvers = {
    char: [(tag, pattern) for tag, pattern in resolvers if tag.endswith((":merge", ":timestamp"))]
    for char, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?(?:0[0-7_]*|[1-9][0-9_]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        re.compile(rf"^(?:{_pattern})$"),
        ["" if char == "\0" else char for char in _first],
    )


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the fields of the front matter and the text below it.

    A page without front matter has no fields. A block that is never closed runs to the end of the page.
    """
    if not text.startswith(_OPEN) or text.startswith("----"):
        return {}, text
    # By positions: a large text is copied once.
    language_end = text.find("\n") if "\n" in text else len(text)
    language = text[len(_OPEN) : language_end].strip()
    if language not in _LANGUAGES:
        raise FrontMatterError(f"front matter in {language!r} is not supported; write it in YAML")
    block_end = text.find(_CLOSE, language_end)
    if block_end < 0:
        return _parse_fields(text[language_end:]), ""
    start = block_end + len(_CLOSE)
    return _parse_fields(text[language_end:block_end]), text[start + text.startswith("\n", start) :]


def _parse_fields(block: str) -> dict[str, Any]:
    if not _COMMENTS.sub("", block).strip():
        return {}
    try:
        check_depth(block, _Loader)
        fields = yaml.load(block, Loader=_Loader)  # noqa: S506  a safe loader with fewer types
    except (KeyError, AttributeError) as error:  # PyYAML's, for `!!bool maybe` and `!!timestamp soon`
        raise FrontMatterError("front matter is not valid YAML: a value does not fit its tag") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FrontMatterError(f"front matter is not valid YAML: {_describe_error(error)}") from error
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise FrontMatterError("front matter is not a list of `key: value` fields")
    return {str(key): value for key, value in fields.items()}


def _describe_error(error: Exception) -> str:
    """Describe a YAML error on one line, with the line of the page."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        # Line 0 of the block is what follows the opening `---`: line 1 of the page.
        return f"{error.problem or 'broken'} (line {error.problem_mark.line + 1})"
    return " ".join(str(error).split())


def text_field(fields: Mapping[str, Any], name: str) -> str | None:
    """Return a field as text, or None if it is missing; a number or a date is text, too."""
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | date) and not isinstance(value, bool):
        return str(value)
    raise FrontMatterError(f"front matter field {name!r} must be text, not a {type(value).__name__}")


def describe_page(fields: Mapping[str, Any]) -> FrontMatter:
    """Return the fields that describe the page. What is not text is left out."""
    return FrontMatter(
        description=_one_line(fields.get("description")),
        keywords=split_keywords(_texts(fields.get("keywords"))),
        tags=tuple(dict.fromkeys(_texts(fields.get("tags")))),
        sidebar_label=_one_line(fields.get("sidebar_label")),
    )


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or of a text with commas; a tag may be `{label: …, permalink: …}`.

    A text that is repeated counts once: thousands of YAML aliases may stand for one long text.
    """
    entries = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else []
    labels = (entry.get("label") if isinstance(entry, dict) else entry for entry in entries)
    texts = dict.fromkeys(str(label) for label in labels if _is_text(label))
    return tuple(filter(None, map(_one_line, texts)))


def _is_text(value: object) -> bool:
    return isinstance(value, str | int | float | date) and not isinstance(value, bool)


def _one_line(value: object) -> str:
    return " ".join(str(value).split()) if _is_text(value) else ""


def bool_field(fields: Mapping[str, Any], name: str, *, default: bool = False) -> bool:
    """Return a field that is true or false, or `default` if it is missing."""
    value = fields.get(name, default)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        kind = type(value).__name__  # the value itself could fill the memory if it has many YAML aliases
        raise FrontMatterError(f"front matter field {name!r} must be true or false, not a {kind}")
    return value
