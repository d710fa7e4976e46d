"""Parse YAML and JSON, and keep the line and column of every key and value.

The usual loaders build the values. A tree of PyYAML nodes is composed beside them, for JSON too: the marks of
its nodes hold the positions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from ..._internal.safe_yaml import MAX_DEPTH, check_depth

if TYPE_CHECKING:
    from yaml import SafeLoader as _FastLoader
else:
    _FastLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_NODES = 5_000_000
"""How many values a YAML file may have once its aliases are expanded: some 100,000 queries."""
SHARED_NODES = 100_000
"""How many values aliases may add to a file, beside one for each of its characters."""
MAX_NUMBER_LENGTH = 100
"""The longest number of a YAML file; the time to read one of thousands of parts grows with its square."""

_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_HINTS = {
    "mapping values are not allowed in this context": "write a text that has a colon in quotes",
    "found character that cannot start any token": "write the text in quotes, and indent with spaces",
}
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}\n]|[^\s\[\]{},:"]+')
_JSON_COLLECTIONS = {"{": yaml.MappingNode, "[": yaml.SequenceNode}
_NULL_TAG = "tag:yaml.org,2002:null"
_SURROGATE = re.compile(r"[\ud800-\udfff]")

FieldPath = Sequence[str | int]
"""The keys and indices that lead to a value, as in pydantic's `loc`."""


class Fault(NamedTuple):
    """An error in a text. Line and column count from 1; 0 means unknown."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        return f"line {self.line}{column}: {self.message}" if self.line else self.message


_TOO_DEEP = Fault(0, 0, f"it is nested more than {MAX_DEPTH} deep")


class ParseError(ValueError):
    """The text is not valid YAML or JSON, or exceeds a limit."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


@dataclass(frozen=True, slots=True)
class ParsedText:
    """The value of a text, and the positions of its parts."""

    value: Any
    root: yaml.Node | None
    repeated_keys: Sequence[Fault]
    missing_values: Sequence[Fault]
    """The keys that YAML reads as null, because nothing follows them, or only a comment."""

    def line_of(self, path: FieldPath) -> int:
        """Find the line of the value at a path."""
        return self.fault_at(path, "").line

    def fault_at(self, path: FieldPath, message: str, *, at_key: bool = False) -> Fault:
        """Create a fault at the position of a value.

        Args:
            path: The path to the value. If it does not exist, the fault is at the nearest value around it.
            message: What is wrong.
            at_key: Whether to point at the value's key instead.
        """
        node, key = self.root, None
        for part in path:
            key, child = _find_child(node, part)
            if child is None:
                break
            node = child
        return _create_fault((key if at_key else None) or node, message)


def parse_yaml(text: str) -> ParsedText:
    """Parse YAML with the safe loader; refuse deep nesting, and aliases that expand to too many values."""
    counts: dict[yaml.Node, int] = {}
    try:
        check_depth(text, _PositionLoader)
        loader = _PositionLoader(text)
        root = loader.get_single_node()
        values = 0 if root is None else _count_values(root, counts)
        _refuse_nested_keys(counts)
        if values > (most := min(MAX_NODES, len(text) + SHARED_NODES)):
            raise yaml.YAMLError(f"its aliases expand to more than {most:,} values")
        # Constructing the document resolves merge keys, which may legally repeat a key.
        repeated_keys, missing_values = _find_repeated_keys(counts), _find_missing_values(counts)
        value = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        raise ParseError(_convert_error(error)) from error
    except yaml.reader.ReaderError as error:
        offset = max(text.find(chr(error.character)), 0) if isinstance(error.character, int) else 0
        line, column = text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
        raise ParseError(Fault(line, column, error.reason)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise ParseError(Fault(0, 0, str(error))) from error
    return ParsedText(value, root, repeated_keys, missing_values)


def parse_json(text: str) -> ParsedText:
    """Parse JSON; refuse deep nesting, and strings with half of a surrogate pair."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ParseError(Fault(error.lineno, error.colno, error.msg)) from error
    except RecursionError as error:
        raise ParseError(_TOO_DEEP) from error
    except ValueError as error:  # a number with thousands of digits
        raise ParseError(Fault(0, 0, str(error))) from error
    root = _compose_json(text)
    counts: dict[yaml.Node, int] = {}
    _count_values(root, counts)
    return ParsedText(value, root, _find_repeated_keys(counts), missing_values=())


class _PositionLoader(_FastLoader):
    """A safe YAML loader whose value errors have a position."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002  yaml's signature
        if node.tag in _NUMBER_TAGS and len(node.value) > MAX_NUMBER_LENGTH:
            problem = f"a number has more than {MAX_NUMBER_LENGTH} characters; write a text in quotes"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        try:
            return super().construct_object(node, deep)
        except ValueError as error:  # also a date such as 2025-13-45
            raise yaml.MarkedYAMLError(problem=str(error), problem_mark=node.start_mark) from error
        except (KeyError, AttributeError) as error:  # PyYAML's, for `!!bool maybe` and `!!timestamp soon`
            problem = "the value does not fit its tag"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from error


def _compose_json(text: str) -> yaml.Node:
    """Compose the nodes of a text that is known to be valid JSON."""
    top = yaml.SequenceNode("", [])
    parents: list[yaml.CollectionNode] = [top]
    line = line_start = 0
    for token in _JSON_TOKEN.finditer(text):
        word, start = token[0], token.start()
        if word == "\n":
            line, line_start = line + 1, token.end()
        elif word in ("]", "}"):
            closed = parents.pop()
            if isinstance(closed, yaml.MappingNode):
                closed.value = list(zip(closed.value[::2], closed.value[1::2], strict=True))
        else:
            mark = yaml.Mark("", start, line, start - line_start, None, 0)
            parents[-1].value.append(node := _create_json_node(word, mark))
            if isinstance(node, yaml.CollectionNode):
                parents.append(node)
        if len(parents) > MAX_DEPTH + 1:
            raise ParseError(_TOO_DEEP)
    (root,) = top.value
    return root  # type: ignore[no-any-return]


def _create_json_node(word: str, mark: yaml.Mark) -> yaml.Node:
    if word in _JSON_COLLECTIONS:
        return _JSON_COLLECTIONS[word]("", [], mark)
    node = yaml.ScalarNode("", json.loads(word) if word.startswith('"') else word, mark)
    if _SURROGATE.search(node.value):
        raise ParseError(_create_fault(node, "contains half of a surrogate pair, which is not text"))
    return node


def _count_values(node: yaml.Node, counts: dict[yaml.Node, int]) -> int:
    """Count the values of a node with aliases expanded; `counts` caches the count of each node."""
    if node not in counts:
        counts[node] = 1  # the count of an alias of the node itself
        pairs = isinstance(node, yaml.MappingNode)
        children = [child for pair in node.value for child in pair] if pairs else node.value
        if isinstance(node, yaml.CollectionNode):
            counts[node] += sum(_count_values(child, counts) for child in children)
    return counts[node]


def _find_child(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Find the key and the value at one step of a path.

    A single label may stand without its list, so an index into a value that is no list means that value.
    """
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return None, node.value[part] if part < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if key.value == str(part):
                return key, value
    return None, node if isinstance(part, int) else None


def _find_repeated_keys(nodes: Iterable[yaml.Node]) -> list[Fault]:
    faults = []
    for node in nodes:
        first_keys: dict[tuple[str, str], yaml.Node] = {}
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            first = first_keys.setdefault((key.tag, str(key.value)), key)
            if first is not key:
                faults.append(
                    _create_fault(key, f"{key.value} is already in line {first.start_mark.line + 1}")
                )
    return faults


def _refuse_nested_keys(nodes: Iterable[yaml.Node]) -> None:
    """Refuse keys that are lists or mappings; to describe one may take forever, since aliases nest them."""
    for node in nodes:
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.CollectionNode):
                raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=key.start_mark)


def _find_missing_values(nodes: Iterable[yaml.Node]) -> list[Fault]:
    hint = "has no value; remove the key, or write its value in quotes if it begins with #"
    return [
        _create_fault(value, f"{key.value} {hint}")
        for node in nodes
        for key, value in (node.value if isinstance(node, yaml.MappingNode) else ())
        if value.tag == _NULL_TAG and not value.value
    ]


def _create_fault(node: yaml.Node | None, message: str) -> Fault:
    if node is None:
        return Fault(0, 0, message)
    return Fault(node.start_mark.line + 1, node.start_mark.column + 1, message)


def _convert_error(error: yaml.MarkedYAMLError) -> Fault:
    """Convert one of PyYAML's errors, with a hint where the cause is a common mistake."""
    message = error.problem or str(error)
    if error.context and (start := error.context_mark):
        message += f" ({error.context} that begins in line {start.line + 1}, column {start.column + 1})"
    if hint := _HINTS.get(error.problem or ""):
        message += f"; {hint}"
    mark = error.problem_mark or error.context_mark
    return Fault(mark.line + 1, mark.column + 1, message) if mark else Fault(0, 0, message)
