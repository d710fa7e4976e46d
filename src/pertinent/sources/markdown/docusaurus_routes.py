"""Docusaurus 3's rules for the address and the title of a page of the docs.

Pure functions over a path below the docs folder (POSIX, `guide/01-intro.md`) and its front matter.
Each one follows the function of the same purpose in `@docusaurus/plugin-content-docs`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from ...identity import escape_address
from .yaml_front_matter import FrontMatterError, bool_field, describe_page, text_field

EXTENSIONS = (".md", ".mdx")

_DATE_OR_VERSION = re.compile(r"\d+[-_.]\d+", re.ASCII)  # as in 2021-11-foo and 7.0-foo
_PREFIXED = re.compile(r"\d+\s*[-_.]+\s*(?P<name>[^-_.\s].*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class PageRoute:
    """The path of a page below the address of its docs, and its title if nothing else gives one."""

    path: str
    fallback_title: str


def is_page(relative: PurePosixPath) -> bool:
    """Whether the docs plugin builds a page from a file; it skips partials (`_x.md`, `_parts/x.md`)."""
    if relative.suffix not in EXTENSIONS:
        return False
    return not any(part.startswith(("_", ".")) for part in relative.parts)


def strip_number_prefix(name: str) -> str:
    """Turn `01-intro` into `intro`; a name that begins with a date or a version stays."""
    if _DATE_OR_VERSION.match(name):
        return name
    match = _PREFIXED.fullmatch(name)
    return match["name"] if match else name


def route_page(
    relative: PurePosixPath, fields: Mapping[str, Any], *, number_prefixes: bool = True
) -> PageRoute:
    """Return the route of a page.

    Args:
        relative: The file's path below the docs folder.
        fields: The page's front matter; `id`, `slug` and `parse_number_prefixes` count.
        number_prefixes: Whether the site strips number prefixes.

    Raises:
        FrontMatterError: The front matter gives an address that Docusaurus refuses.
    """
    strip = number_prefixes and bool_field(fields, "parse_number_prefixes", default=True)
    name, slug = text_field(fields, "id") or "", text_field(fields, "slug") or ""
    page_id = name or (strip_number_prefix(relative.stem) if strip else relative.stem)
    if "/" in page_id:
        raise FrontMatterError(f"the id {page_id!r} has a slash in it; Docusaurus refuses that")
    folders = [strip_number_prefix(part) if strip else part for part in relative.parent.parts]
    folder = f"/{'/'.join(folders)}/" if folders else "/"
    if slug.startswith("/"):
        path = slug
    elif not slug and _is_category_index(relative):
        path = folder
    else:
        path = _resolve_slug(slug or page_id, folder)
    if re.search(r"[?#\\\t\r\n]", name + slug) or {".", ".."} & set(unquote(path).split("/")):
        raise FrontMatterError(f"the address {path!r} is not a valid path; give the page another `slug`")
    return PageRoute(path, page_id)


def _is_category_index(relative: PurePosixPath) -> bool:
    """Whether a page is the index of its folder: `index`, `README`, or a page with the folder's name."""
    return relative.stem.lower() in ("index", "readme", relative.parent.name.lower() or ".")


def _resolve_slug(slug: str, folder: str) -> str:
    """Resolve a relative slug against its folder, as a browser resolves a relative address."""
    parts = [*folder.split("/")[:-1], *slug.split("/")]
    resolved: list[str] = []
    for part in parts:
        if part == "..":
            if len(resolved) > 1:
                resolved.pop()
        elif part != ".":
            resolved.append(part)
    path = "/".join(resolved) or "/"
    is_folder = parts[-1] in (".", "..", "")
    return path + "/" if is_folder and not path.endswith("/") else path


def join_url(base: str, path: str) -> str:
    """Join a path to a base address, percent-encoded, without double slashes or a trailing slash."""
    scheme, separator, host = base.partition("://")
    joined = re.sub(r"/{2,}", "/", f"{host}/{escape_address(path)}").rstrip("/")
    return f"{scheme}{separator}{joined}"


def page_title(fields: Mapping[str, Any], heading: str | None, fallback: str) -> str:
    """Return the title in the front matter, else the page's own `heading`, its label, or `fallback`."""
    title = " ".join((text_field(fields, "title") or "").split())  # a block of YAML has several lines
    return title or heading or describe_page(fields).sidebar_label or fallback
