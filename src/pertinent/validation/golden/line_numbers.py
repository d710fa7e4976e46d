"""YAML and JSON as plain values, and where in the text each of them is written.

The usual loaders make the values. A tree of YAML nodes stands beside them, for JSON too: its marks give
the line and the column of every key and value.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from ..._internal.safe_yaml import MAX_DEPTH, check_depth

if TYPE_CHECKING:
    from yaml import SafeLoader as _FastLoader
else:
    _FastLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

NODES_MAX = 5_000_000
"""How many values a YAML file may come to once its aliases are written out: some 100,000 queries."""

_HINTS = {
    "mapping values are not allowed in this context": "write a text that has a colon in quotes",
    "found character that cannot start any token": "write the text in quotes, and indent with spaces",
}
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)

Path = Sequence[str | int]
"""The keys and indices that lead to a value, as in pydantic's `loc`."""


class Fault(NamedTuple):
    """An error in a text, with the line and the column where it is, both from 1; 0 where not known."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        return f"line {self.line}{column}: {self.message}" if self.line else self.message


class Unreadable(ValueError):
    """The text is no YAML, or no JSON."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Document:
    """A value, and where its parts are written."""

    value: Any
    root: yaml.Node | None
    repeated_keys: Sequence[Fault]

    def line_of(self, path: Path) -> int:
        """The line of the value at the path."""
        return self.fault_at(path, "").line

    def fault_at(self, path: Path, message: str, *, at_key: bool = False) -> Fault:
        """A fault at a value, or at its key; where there is no such value, at the one around it."""
        node = self.root
        key = None
        for part in path:
            key, child = _child(node, part)
            if child is None:
                break
            node = child
        return _fault((key if at_key else None) or node, message)


def read_yaml(text: str) -> Document:
    """The value of a YAML text; deep nesting and aliases that multiply are refused."""
    loader = None
    try:
        check_depth(text, _Loader)
        loader = _Loader(text)
        root = loader.get_single_node()
        repeated = _repeated_keys(root)  # before merge keys are resolved, which may repeat a key
        value = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        raise Unreadable(_yaml_fault(error)) from error
    except yaml.reader.ReaderError as error:
        offset = text.find(chr(error.character)) if isinstance(error.character, int) else 0
        raise Unreadable(Fault(*_Lines(text).position(max(offset, 0)), error.reason)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable(Fault(0, 0, str(error))) from error
    finally:
        if loader is not None:
            loader.dispose()
    return Document(value, root, repeated)


def read_json(text: str) -> Document:
    """The value of a JSON text; deep nesting is refused."""
    too_deep = Fault(0, 0, f"it is nested more than {MAX_DEPTH} deep")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise Unreadable(Fault(error.lineno, error.colno, error.msg)) from error
    except RecursionError as error:
        raise Unreadable(too_deep) from error
    root = _json_nodes(text)
    if root is None:
        raise Unreadable(too_deep)
    for node in _walk(root):
        if isinstance(node, yaml.ScalarNode) and _has_surrogate(node.value):
            raise Unreadable(_fault(node, "holds half of a surrogate pair, which is not text"))
    return Document(value, root, _repeated_keys(root))


class _Loader(_FastLoader):
    """Safe YAML: aliases that multiply are refused, and an error in a value has its line."""

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None and _size(node, {}) > NODES_MAX:
            raise yaml.YAMLError(f"its aliases come to more than {NODES_MAX} values")
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002  yaml's signature
        try:
            return super().construct_object(node, deep)
        except ValueError as error:  # a date such as 2025-13-45
            raise yaml.MarkedYAMLError(problem=str(error), problem_mark=node.start_mark) from error


def _size(node: yaml.Node, sizes: dict[yaml.Node, int]) -> int:
    """How many values a node comes to with its aliases written out; each node is looked at once."""
    if node not in sizes:
        sizes[node] = 1  # should it be an alias of itself
        sizes[node] += sum(_size(child, sizes) for child in _children(node))
    return sizes[node]


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _child(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """The key and the value of a part; the index of a value that is no list leads to the value itself."""
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return None, node.value[part] if part < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if key.value == str(part):
                return key, value
    return None, node if isinstance(part, int) else None


def _walk(root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Every node once, in the order of the text."""
    seen = set()
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            yield node
            waiting += reversed(_children(node))


def _repeated_keys(root: yaml.Node | None) -> list[Fault]:
    faults = []
    for node in _walk(root):
        first: dict[tuple[str, str], yaml.Node] = {}
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            before = first.setdefault((key.tag, str(key.value)), key)
            if before is not key:
                line = before.start_mark.line + 1
                faults.append(_fault(key, f"{key.value} is given twice, in line {line} too"))
    return faults


def _fault(node: yaml.Node | None, message: str) -> Fault:
    if node is None:
        return Fault(0, 0, message)
    return Fault(node.start_mark.line + 1, node.start_mark.column + 1, message)


def _yaml_fault(error: yaml.MarkedYAMLError) -> Fault:
    message = error.problem or str(error)
    if error.context and (start := error.context_mark):
        message += f" ({error.context} that begins in line {start.line + 1}, column {start.column + 1})"
    if hint := _HINTS.get(error.problem or ""):
        message += f"; {hint}"
    mark = error.problem_mark or error.context_mark
    return Fault(mark.line + 1, mark.column + 1, message) if mark else Fault(0, 0, message)


class _Lines:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the column of a character, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def _json_nodes(text: str) -> yaml.Node | None:
    """The nodes of a text that is known to be JSON; None where it is nested too deeply."""
    lines = _Lines(text)
    top = yaml.SequenceNode("", [])
    parents: list[yaml.CollectionNode] = [top]
    for token in _JSON_TOKEN.finditer(text):
        word = token[0]
        if word in ("]", "}"):
            closed = parents.pop()
            if isinstance(closed, yaml.MappingNode):
                closed.value = list(zip(closed.value[::2], closed.value[1::2], strict=True))
        elif word not in (",", ":"):
            line, column = lines.position(token.start())
            mark = yaml.Mark("", token.start(), line - 1, column - 1, None, 0)
            node = _json_node(word, mark)
            parents[-1].value.append(node)
            if isinstance(node, yaml.CollectionNode):
                parents.append(node)
                if len(parents) > MAX_DEPTH + 1:
                    return None
    (root,) = top.value
    return root  # type: ignore[no-any-return]


def _json_node(word: str, mark: yaml.Mark) -> yaml.Node:
    if word == "{":
        return yaml.MappingNode("", [], mark)
    if word == "[":
        return yaml.SequenceNode("", [], mark)
    return yaml.ScalarNode("", json.loads(word) if word.startswith('"') else word, mark)


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and re.search(r"[\ud800-\udfff]", text) is not None
