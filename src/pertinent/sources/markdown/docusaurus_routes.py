"""Docusaurus 3's own rules for where a page of the docs stands and what it is called.

Pure functions over a path below the docs folder (POSIX, `guide/01-intro.md`) and its front matter;
each follows the function of the same purpose in `@docusaurus/plugin-content-docs`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from .frontmatter import FrontMatterError, flag, text_field

EXTENSIONS = (".md", ".mdx")

_NOT_A_PREFIX = re.compile(r"\d+[-_.]\d+", re.ASCII)  # 2021-11-foo and 7.0-foo are dates and versions
_PREFIX = re.compile(r"\d+\s*[-_.]+\s*(?P<suffix>[^-_.\s].*)", re.ASCII)
_SAFE = "/%:@!$&'()*+,;=~[]|"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page stands below the docs route, and its name where nothing else names it."""

    route: str
    fallback_title: str


def is_page(relative: PurePosixPath) -> bool:
    """Whether the docs plugin makes a page of the file: partials (`_x.md`, `_parts/x.md`) are none."""
    if relative.suffix not in EXTENSIONS:
        return False
    return not any(part.startswith(("_", ".")) for part in relative.parts)


def strip_number_prefix(name: str) -> str:
    """`01-intro` is `intro`; what looks like a date or a version stays."""
    if _NOT_A_PREFIX.match(name):
        return name
    match = _PREFIX.fullmatch(name)
    return match.group("suffix") if match else name


def place(relative: PurePosixPath, fields: Mapping[str, Any], *, number_prefixes: bool = True) -> Place:
    """The route of a page and its last-resort title, from its path and front matter."""
    front = dict(fields)
    prefixes = number_prefixes and flag(front, "parse_number_prefixes", default=True)
    name = strip_number_prefix(relative.stem) if prefixes else relative.stem
    base_id = text_field(front, "id") or name
    if "/" in base_id:
        raise FrontMatterError(f"the id {base_id!r} has a slash in it; Docusaurus refuses that")
    slug = text_field(front, "slug")
    route = _route(relative, base_id, slug, prefixes=prefixes)
    if not _valid(route):
        raise FrontMatterError(f"the address {route!r} is not a valid path; give the page another `slug`")
    return Place(route, base_id)


def _route(relative: PurePosixPath, base_id: str, slug: str | None, *, prefixes: bool) -> str:
    if slug and slug.startswith("/"):
        return slug
    parts = [strip_number_prefix(part) if prefixes else part for part in relative.parent.parts]
    folder = f"/{'/'.join(parts)}/" if parts else "/"
    if not slug and _is_category_index(relative):
        return folder
    return _resolve(slug or base_id, folder)


def _is_category_index(relative: PurePosixPath) -> bool:
    """`index`, `README` and `folder/folder` stand for their folder; the folder's name keeps its prefix."""
    return relative.stem.lower() in ("index", "readme", relative.parent.name.lower() or ".")


def _resolve(to: str, folder: str) -> str:
    """A relative slug against its folder, as a browser resolves a relative address."""
    parts = [*folder.split("/")[:-1], *to.split("/")]
    trailing = parts[-1] in (".", "..", "")
    kept: list[str] = []
    for part in parts:
        if part == "..":
            if len(kept) > 1:
                kept.pop()
        elif part != ".":
            kept.append(part)
    result = "/".join(kept) or "/"
    return result + "/" if trailing and not result.endswith("/") else result


def _valid(route: str) -> bool:
    segments = route.split("/")
    return not re.search(r"[?#\\\t\r\n]", route) and not {".", ".."} & set(segments)


def join(base: str, route: str) -> str:
    """The address of a route below a base address, without doubled or closing slashes."""
    scheme, separator, rest = base.partition("://")
    path = re.sub(r"/{2,}", "/", f"{rest}/{quote(route, safe=_SAFE)}").rstrip("/")
    return f"{scheme}{separator}{path}"


def title_of(fields: Mapping[str, Any], heading: str | None, fallback: str) -> str:
    """Front matter's title, else the heading that opens the page, else the page's id."""
    return text_field(dict(fields), "title") or heading or fallback
