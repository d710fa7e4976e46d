"""Read `docusaurus.config.*`: the site's address, its docs folders, its Markdown format and its language.

The file is code, and is never run. Only literals count: a value that is computed is unknown, and so is
an address that depends on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..._internal.regular_files import read_regular_file
from ...identity import is_url
from .javascript import Value, find_object

Default = TypeVar("Default")

_CONTENT_KINDS = ("docs", "blog", "pages")
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
    blogs: tuple[str, ...] = ()
    """The folders of its blogs, below the site."""
    pages: tuple[str, ...] = ()
    """The folders of its pages outside of docs and blogs."""
    unknown_docs: tuple[str, ...] = ()
    """The ids of docs plugins whose folder is computed."""
    locale: str = "en"
    """The default locale, as in `pt-BR`; "" if it is computed."""


def find_config(folder: Path) -> Path | None:
    """Return the config file in a folder, or None."""
    paths = (folder / name for name in _FILE_NAMES)
    return next((path for path in paths if os.path.isfile(path)), None)  # noqa: PTH113 - never raises


def read_config(path: Path) -> SiteConfig:
    """Read a config file; one that can't be read gives the defaults of Docusaurus."""
    try:
        text = read_regular_file(path).decode("utf-8-sig")
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
    translations = config.get("i18n", {})
    locale = translations.get("defaultLocale", "en") if isinstance(translations, dict) else ""
    plugins = list(_content_plugins(config))
    docs = [_docs_plugin(options) for kind, options in plugins if kind == "docs"]
    return SiteConfig(
        root,
        _site_address(config),
        tuple(plugin for plugin in docs if plugin.path) or (DocsPlugin(),),
        _text_or(options.get("format"), "mdx"),
        blogs=tuple(_folder(options, "blog") for kind, options in plugins if kind == "blog"),
        pages=tuple(_folder(options, "src/pages") for kind, options in plugins if kind == "pages"),
        unknown_docs=tuple(plugin.instance for plugin in docs if not plugin.path),
        locale=_text_or(locale, ""),
    )


def _is_site_object(fields: dict[str, Value]) -> bool:
    return "baseUrl" in fields or ("title" in fields and "url" in fields)


def _site_address(config: dict[str, Value]) -> str | None:
    url, base = config.get("url"), config.get("baseUrl", "/")
    if not isinstance(url, str) or not isinstance(base, str) or not re.match(r"https?://[^/]", url):
        return None
    address = f"{url.rstrip('/')}/{base.strip('/')}".rstrip("/")
    return address if is_url(address) else None


def _content_plugins(config: dict[str, Value]) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield the kind (docs, blog or pages) and the options of each plugin that makes pages."""
    for name, options in _entries_with_options(config.get("presets")):
        if name in ("classic", "@docusaurus/preset-classic"):
            for kind in _CONTENT_KINDS:
                plugin = options.get(kind)
                if plugin is not False:
                    yield kind, plugin if isinstance(plugin, dict) else {}
    for name, options in _entries_with_options(config.get("plugins")):
        for kind in _CONTENT_KINDS:
            if name in (kind, f"content-{kind}", f"@docusaurus/plugin-content-{kind}"):
                yield kind, options


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
        path=_folder(options, "docs"),
        route=_text_or(options.get("routeBasePath", "docs"), None),
        number_prefixes=options.get("numberPrefixParser") is not False,
        last_version=_text_or(options.get("lastVersion"), None),
        versioned=options.get("disableVersioning") is not True,
        instance=_text_or(options.get("id"), "default"),
    )


def _folder(options: dict[str, Value], default: str) -> str:
    """Return the folder of a plugin; "" if it is computed."""
    return _text_or(options.get("path", default), "")


def _text_or(value: Value, default: Default) -> str | Default:
    return value if isinstance(value, str) else default
