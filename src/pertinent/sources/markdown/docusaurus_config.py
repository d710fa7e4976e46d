"""Read `docusaurus.config.*`: the site's address, its docs folders and its Markdown format.

The file is code, and is never run. Only literals count: a value that is computed is unknown, and so is
an address that depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ...identity import is_url
from .javascript import Value, find_object

Default = TypeVar("Default")

_FILE_NAMES = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs", "mts", "cts"))


@dataclass(frozen=True, slots=True)
class DocsPlugin:
    """The options of one docs plugin: its folder below the site, and its route (None if unknown)."""

    path: str = "docs"
    route: str | None = "docs"
    number_prefixes: bool = True
    last_version: str | None = None
    versioned: bool = True
    instance: str = "default"


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """The config of a site in the folder `root`; its `address` is None if it is unknown."""

    root: Path
    address: str | None
    docs: tuple[DocsPlugin, ...]
    markdown_format: str = "mdx"


def find_config(folder: Path) -> Path | None:
    """Return the config file in a folder, or None."""
    return next((folder / name for name in _FILE_NAMES if (folder / name).is_file()), None)


def read_config(path: Path) -> SiteConfig:
    """Read a config file; one that can't be read gives the defaults of Docusaurus."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        text = ""
    return parse_config(text, path.parent)


def parse_config(text: str, root: Path) -> SiteConfig:
    """Parse the text of a config file for the site in the folder `root`."""
    try:
        config = find_object(text, _is_site_object)
    except RecursionError:
        config = {}
    markdown = config.get("markdown")
    options = markdown if isinstance(markdown, dict) else {}
    plugins = tuple(_docs_plugins(config)) or (DocsPlugin(),)
    return SiteConfig(root, _site_address(config), plugins, _text_or(options.get("format"), "mdx"))


def _is_site_object(fields: dict[str, Value]) -> bool:
    return "baseUrl" in fields or ("title" in fields and "url" in fields)


def _site_address(config: dict[str, Value]) -> str | None:
    url, base = config.get("url"), config.get("baseUrl", "/")
    if not isinstance(url, str) or not isinstance(base, str) or not re.match(r"https?://[^/]", url):
        return None
    address = f"{url.rstrip('/')}/{base.strip('/')}".rstrip("/")
    return address if is_url(address) else None


def _docs_plugins(config: dict[str, Value]) -> Iterator[DocsPlugin]:
    for name, options in _entries_with_options(config.get("presets")):
        if name in ("classic", "@docusaurus/preset-classic") and options.get("docs") is not False:
            docs = options.get("docs")
            yield _docs_plugin(docs if isinstance(docs, dict) else {})
    for name, options in _entries_with_options(config.get("plugins")):
        if name in ("content-docs", "docs", "@docusaurus/plugin-content-docs"):
            yield _docs_plugin(options)


def _entries_with_options(entries: Value) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield name and options of presets or plugins, which are written `name` or `[name, options]`."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, str):
            yield entry, {}
        elif isinstance(entry, list) and entry and isinstance(entry[0], str):
            options = entry[1] if len(entry) > 1 else {}
            yield entry[0], options if isinstance(options, dict) else {}


def _docs_plugin(options: dict[str, Value]) -> DocsPlugin:
    return DocsPlugin(
        path=_text_or(options.get("path"), "docs"),
        route=_text_or(options.get("routeBasePath", "docs"), None),
        number_prefixes=options.get("numberPrefixParser") is not False,
        last_version=_text_or(options.get("lastVersion"), None),
        versioned=options.get("disableVersioning") is not True,
        instance=_text_or(options.get("id"), "default"),
    )


def _text_or(value: Value, default: Default) -> str | Default:
    return value if isinstance(value, str) else default
