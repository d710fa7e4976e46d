"""Read `docusaurus.config.*`: the site's address, its docs folders, its Markdown format and its language.

The file is code, and is never run. Only literals and constants count: a value that is computed is unknown,
and so is an address that depends on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from ..._internal.regular_files import read_regular_file
from ...identity import is_url
from .javascript import SPREAD, UNKNOWN, Fields, Value, find_object, get_field, iterate_strings

Default = TypeVar("Default")

_CONTENT_KINDS = ("docs", "blog", "pages")
_DOCS_PLUGINS = ("content-docs", "@docusaurus/plugin-content-docs")
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
    version_paths: Mapping[str, str] = field(default_factory=dict)
    """The paths of versions in addresses, by the name of the version, where the config sets them."""
    only_versions: tuple[str, ...] | None = None
    """The names of the versions that the site has (`current` is one); None if it has all."""
    includes_current: bool = True


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
    computed_docs: int = 0
    """How many docs plugins the code adds in a way that is not read, such as under a condition."""
    locale: str = "en"
    """The default locale, as in `pt-BR`; "" if it is computed."""


def find_config(folder: Path) -> Path | None:
    """Return the config file in a folder, or None."""
    paths = (folder / name for name in _FILE_NAMES)
    return next((path for path in paths if os.path.isfile(path)), None)  # noqa: PTH113 - never raises


def read_config(path: Path) -> SiteConfig:
    """Read a config file; one that can't be read gives the defaults of Docusaurus."""
    try:
        text = read_regular_file(path).decode("utf-8-sig", "replace")  # as Node.js reads it
    except OSError:
        text = ""
    return parse_config(text, path.parent)


def parse_config(text: str, root: Path) -> SiteConfig:
    """Parse the text of a config file for the site in the folder `root`."""
    try:
        config = find_object(text, _rank_site_object)
    except RecursionError:
        config = {}
    options = _as_options(get_field(config, "markdown"))
    translations = _as_options(get_field(config, "i18n"))
    plugins = list(_content_plugins(config))
    docs = [_docs_plugin(options) for kind, options in plugins if kind == "docs"]
    return SiteConfig(
        root,
        _site_address(config),
        tuple(plugin for plugin in docs if plugin.path) or (_default_docs(config),),
        _text_or(options.get("format"), "mdx"),
        blogs=tuple(_folders(plugins, "blog", "blog")),
        pages=tuple(_folders(plugins, "pages", "src/pages")),
        unknown_docs=tuple(plugin.instance for plugin in docs if not plugin.path),
        computed_docs=_count_computed_docs(text, config),
        locale=_text_or(get_field(translations, "defaultLocale", "en"), ""),
    )


def _rank_site_object(fields: Fields) -> int:
    """Rank an object by the fields that each config must have; one without `baseUrl` is no config."""
    return len(fields.keys() & {"title", "url", "baseUrl"}) if "baseUrl" in fields else 0


def _site_address(config: Fields) -> str | None:
    """Return the address of the site; None if it is computed, or has a user name, which must not be cited."""
    url, base = config.get("url"), config.get("baseUrl")
    if not isinstance(url, str) or not isinstance(base, str) or not re.match(r"https?://[^/]", url):
        return None
    address = f"{url.rstrip('/')}/{base.strip('/')}".rstrip("/")
    return address if is_url(address) and "@" not in urlsplit(address).netloc else None


def _content_plugins(config: Fields) -> Iterator[tuple[str, Fields]]:
    """Yield the kind (docs, blog or pages) and the options of each plugin that makes pages."""
    for name, options in _entries_with_options(config.get("presets")):
        if name in ("classic", "@docusaurus/preset-classic"):
            for kind in _CONTENT_KINDS:
                plugin = get_field(options, kind)
                if plugin is not False:
                    yield kind, _as_options(plugin)
    for name, options in _entries_with_options(config.get("plugins")):
        for kind in _CONTENT_KINDS:
            if name in (kind, f"content-{kind}", f"@docusaurus/plugin-content-{kind}"):
                yield kind, options


def _count_computed_docs(text: str, config: Fields) -> int:
    """Count the docs plugins that the code names and that are no entries of `plugins`."""
    named = sum(string in _DOCS_PLUGINS for string in iterate_strings(text))
    read = sum(name in _DOCS_PLUGINS for name, _ in _entries_with_options(config.get("plugins")))
    return max(0, named - read)


def _entries_with_options(entries: Value) -> Iterator[tuple[str, Fields]]:
    """Yield name and options of presets or plugins, which are written `name` or `[name, options]`."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, str):
            yield entry, {}
        elif isinstance(entry, list) and entry and isinstance(entry[0], str):
            yield entry[0], _as_options(entry[1] if len(entry) > 1 else None)


def _as_options(value: Value) -> Fields:
    """Return the fields of an object; each one is UNKNOWN if the object is."""
    if isinstance(value, dict):
        return value
    return {SPREAD: UNKNOWN} if value is UNKNOWN else {}


def _default_docs(config: Fields) -> DocsPlugin:
    """Return the docs plugin of a config in which none is found; another preset may set any route."""
    is_plain = get_field(config, "presets") is None and get_field(config, "plugins") is None
    return DocsPlugin() if is_plain else DocsPlugin(route=None)


def _docs_plugin(options: Fields) -> DocsPlugin:
    version_paths = _version_paths(_as_options(get_field(options, "versions")))
    last_version = get_field(options, "lastVersion")
    only_versions = get_field(options, "onlyIncludeVersions")
    only_versions = only_versions if isinstance(only_versions, list) else [only_versions]
    is_known = version_paths is not None and UNKNOWN not in (
        last_version,
        get_field(options, "disableVersioning"),
        get_field(options, "includeCurrentVersion"),
        *only_versions,
    )
    return DocsPlugin(
        path=_folder(options, "docs"),
        route=_text_or(get_field(options, "routeBasePath", "docs"), None) if is_known else None,
        number_prefixes=options.get("numberPrefixParser") is not False,
        last_version=_text_or(last_version, None),
        versioned=options.get("disableVersioning") is not True,
        instance=_text_or(options.get("id"), "default"),
        version_paths=version_paths or {},
        only_versions=tuple(name for name in only_versions if isinstance(name, str)) or None,
        includes_current=options.get("includeCurrentVersion") is not False,
    )


def _version_paths(versions: Fields) -> dict[str, str] | None:
    """Return the path of each version that sets one; None if one is computed."""
    paths = {name: get_field(_as_options(options), "path") for name, options in versions.items()}
    if UNKNOWN in paths.values():
        return None
    return {name: path for name, path in paths.items() if isinstance(path, str)}


def _folders(plugins: list[tuple[str, Fields]], kind: str, default: str) -> Iterator[str]:
    """Yield the folders of the plugins of one kind, except those that are computed."""
    return filter(None, (_folder(options, default) for name, options in plugins if name == kind))


def _folder(options: Fields, default: str) -> str:
    """Return the folder of a plugin; "" if it is computed."""
    return _text_or(get_field(options, "path", default), "")


def _text_or(value: Value, default: Default) -> str | Default:
    return value if isinstance(value, str) else default
