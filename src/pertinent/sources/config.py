"""What `docusaurus.config.*` says plainly: the site's address and its docs folders.

The file is JavaScript or TypeScript and is read, never run. Only literals count; anything that is
computed is unknown, and an address that depends on it is unknown too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..identity import is_url
from .jsx import literal

NAMES = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs", "mts", "cts"))


class _Unknown:
    """A value that only running the file would tell."""


UNKNOWN: Final = _Unknown()
Value = str | bool | None | _Unknown | dict[str, "Value"] | list["Value"]

_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/"
    r"|(?P<string>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`)"
    r"|(?P<word>[\w$.]+)|(?P<mark>=>|.)",
    re.DOTALL,
)
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_WORDS: Mapping[str, Value] = {"true": True, "false": False, "null": None, "undefined": None}


@dataclass(frozen=True, slots=True)
class DocsFolder:
    """One instance of the docs plugin: its folder, relative to the site, and its route (None: unknown)."""

    path: str = "docs"
    route: str | None = "docs"
    number_prefixes: bool = True
    last_version: str | None = None
    versioned: bool = True
    instance: str = "default"


@dataclass(frozen=True, slots=True)
class Site:
    """A site's address (None where it is not written plainly), its docs, and the format of its Markdown."""

    root: Path
    address: str | None
    docs: tuple[DocsFolder, ...]
    markdown_format: str = "mdx"


def find_config(folder: Path) -> Path | None:
    """The config file in this folder, if there is one."""
    return next((folder / name for name in NAMES if (folder / name).is_file()), None)


def read_config(path: Path) -> Site:
    """What the config says; a file that can't be read says nothing."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        text = ""
    return parse_config(text, path.parent)


def parse_config(text: str, root: Path) -> Site:
    """A site from its config's text."""
    try:
        config = _root_object(_tokens(text))
    except RecursionError:
        config = {}
    markdown = config.get("markdown")
    wanted = markdown.get("format") if isinstance(markdown, dict) else None
    return Site(
        root,
        _address(config),
        tuple(_docs(config)) or (DocsFolder(),),
        wanted if isinstance(wanted, str) else "mdx",
    )


def _address(config: dict[str, Value]) -> str | None:
    url, base = config.get("url"), config.get("baseUrl", "/")
    if not isinstance(url, str) or not isinstance(base, str) or not re.match(r"https?://[^/]", url):
        return None
    address = f"{url.rstrip('/')}/{base.strip('/')}".rstrip("/")
    return address if is_url(address) else None


def _docs(config: dict[str, Value]) -> Iterator[DocsFolder]:
    for name, options in _with_options(config.get("presets")):
        if name in ("classic", "@docusaurus/preset-classic") and options.get("docs") is not False:
            docs = options.get("docs")
            yield _folder(docs if isinstance(docs, dict) else {})
    for name, options in _with_options(config.get("plugins")):
        if name in ("content-docs", "docs", "@docusaurus/plugin-content-docs"):
            yield _folder(options)


def _with_options(entries: Value) -> Iterator[tuple[str, dict[str, Value]]]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, str):
            yield entry, {}
        elif isinstance(entry, list) and entry and isinstance(entry[0], str):
            options = entry[1] if len(entry) > 1 else {}
            yield entry[0], options if isinstance(options, dict) else {}


def _folder(options: dict[str, Value]) -> DocsFolder:
    path, route = options.get("path", "docs"), options.get("routeBasePath", "docs")
    last, instance = options.get("lastVersion"), options.get("id", "default")
    return DocsFolder(
        path if isinstance(path, str) else "docs",
        route if isinstance(route, str) else None,
        options.get("numberPrefixParser") is not False,
        last if isinstance(last, str) else None,
        options.get("disableVersioning") is not True,
        instance if isinstance(instance, str) else "default",
    )


Tokens = list[tuple[str, str]]


def _tokens(text: str) -> Tokens:
    return [(match.lastgroup, match.group()) for match in _TOKEN.finditer(text) if match.lastgroup]


def _root_object(tokens: Tokens) -> dict[str, Value]:
    """The object with the site's fields: the first that has a `baseUrl`, or a `url` beside a `title`."""
    for index, (_, mark) in enumerate(tokens):
        if mark == "{":
            found, _ = _object(tokens, index)
            if "baseUrl" in found or ("title" in found and "url" in found):
                return found
    return {}


def _object(tokens: Tokens, index: int) -> tuple[dict[str, Value], int]:
    found: dict[str, Value] = {}
    index += 1
    while index < len(tokens) and tokens[index][1] != "}":
        key = _key(tokens, index)
        if key is None:
            index = _skip(tokens, index)
        else:
            found[key], index = _value(tokens, index + 2)
        if index < len(tokens) and tokens[index][1] == ",":
            index += 1
        elif index < len(tokens) and tokens[index][1] != "}":
            index += 1  # not an object after all; go on, since what is found is checked by its keys
    return found, index + 1


def _key(tokens: Tokens, index: int) -> str | None:
    if index + 1 >= len(tokens) or tokens[index + 1][1] != ":":
        return None
    kind, text = tokens[index]
    return literal(text) if kind == "string" else text if kind == "word" else None


def _value(tokens: Tokens, index: int) -> tuple[Value, int]:
    if index >= len(tokens):
        return UNKNOWN, index
    kind, text = tokens[index]
    value: Value = UNKNOWN
    after = index + 1
    if text == "{":
        value, after = _object(tokens, index)
    elif text == "[":
        value, after = _array(tokens, index)
    elif kind == "string":
        found = literal(text)
        value = UNKNOWN if found is None else found
    elif text in _WORDS:
        value = _WORDS[text]
    if after < len(tokens) and tokens[after][1] in ("as", "satisfies"):
        return value, _skip(tokens, after)
    if after >= len(tokens) or tokens[after][1] in (",", "}", "]"):
        return value, after
    return UNKNOWN, _skip(tokens, index)


def _array(tokens: Tokens, index: int) -> tuple[list[Value], int]:
    found: list[Value] = []
    index += 1
    while index < len(tokens) and tokens[index][1] != "]":
        value, after = _value(tokens, index)
        found.append(value)
        index = after if after > index else index + 1
        if index < len(tokens) and tokens[index][1] == ",":
            index += 1
    return found, index + 1


def _skip(tokens: Tokens, index: int) -> int:
    """The comma or bracket that ends the value at `index`, whatever the value is."""
    closing: list[str] = []
    while index < len(tokens):
        mark = tokens[index][1]
        if not closing and mark in (",", "}", "]", ")"):
            return index
        if mark in _CLOSING:
            closing.append(_CLOSING[mark])
        elif closing and mark == closing[-1]:
            closing.pop()
        index += 1
    return index
