"""From a path that someone gave to the docs folders behind it and the files in them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from ...errors import InvalidInput, SourceError
from .docusaurus_config import DocsFolder, Site, find_config, read_config
from .docusaurus_routes import EXTENSIONS, is_page

_UP = 4  # folders above the given one in which a config is looked for
_NEVER = frozenset(("node_modules", "__tests__", "__pycache__"))


@dataclass(frozen=True, slots=True)
class Folder:
    """A docs folder: its label begins every source path, its route every address (None: unknown).

    The version that readers land on has no name in its addresses; the folder under work is `next`
    once a version was cut.
    """

    root: Path
    label: str
    route: str | None
    version: str = ""
    number_prefixes: bool = True


Unread = Callable[[Folder, OSError], None]
"""Is told of a folder below a docs folder that can't be read."""


@dataclass(frozen=True, slots=True)
class Tree:
    """What is to be read: folders, the part of them that was asked for, and the site they belong to."""

    folders: tuple[Folder, ...]
    within: Path
    site: Site | None

    def files(self, unread: Unread | None = None) -> Iterator[tuple[Folder, PurePosixPath]]:
        """Every page's file, in the order of its path; folders that can't be read are told of."""
        for folder in self.folders:
            told = partial(unread, folder) if unread else None
            found = sorted(_walk(folder.root, self.within, told), key=str)
            for relative in found:
                if is_page(relative):
                    yield folder, relative


def open_tree(path: Path) -> Tree:
    """The tree at a path: a site's root, its docs folder or a part of it, a plain folder, or one file.

    Of a site with versions, its root means the version that readers land on; another is read where
    its own folder is given.
    """
    if not path.exists():
        raise InvalidInput(
            "source",
            f"{path} does not exist; give a folder of Markdown, a file, or the address of a site with its "
            "http:// or https://",
        )
    path = path.resolve()
    if path.is_file() and path.suffix not in EXTENSIONS:
        raise InvalidInput("source", f"{path.name} is not Markdown; give a .md or .mdx file, or a folder")
    tree = _of_site(path) or _plain(path)
    if not any(True for _ in tree.files()):
        raise SourceError(f"no Markdown pages below {path}; give the folder that holds the .md or .mdx files")
    return tree


def _of_site(path: Path) -> Tree | None:
    """The part of a site that a path names; None where it names none of a site's docs."""
    here = path if path.is_dir() else path.parent
    config = find_config(here)
    if config is None and len(below := sorted(here.glob("*/docusaurus.config.*"))) == 1:
        config = find_config(below[0].parent)
    above = (find_config(folder) for folder in list(here.parents)[:_UP])
    config = config or next(filter(None, above), None)
    if config is None:
        return None
    site = read_config(config)
    folders = _folders(site)
    inside = tuple(folder for folder in folders if path.is_relative_to(folder.root))
    if inside:
        return Tree(inside, path, site)
    if path.is_file() or not config.parent.is_relative_to(path):
        return None
    shown = tuple(folder for folder in folders if not folder.version)
    return Tree(shown or tuple(folders), config.parent, site)


def _folders(site: Site) -> list[Folder]:
    found: list[Folder] = []
    for docs in site.docs:
        names = _version_names(site, docs)
        last = docs.last_version or (names[0] if names else "current")
        root = (site.root / docs.path).resolve()
        if root.is_dir():
            version = "" if last == "current" else "next"
            found.append(Folder(root, root.name, docs.route, version, docs.number_prefixes))
        for name in names:
            label = f"{_prefix(docs)}versioned_docs/version-{name}"
            root = (site.root / label).resolve()
            if root.is_dir():
                version = "" if name == last else name
                found.append(Folder(root, label, docs.route, version, docs.number_prefixes))
    labels = [folder.label for folder in found]
    return [_told_apart(folder, site) if labels.count(folder.label) > 1 else folder for folder in found]


def _told_apart(folder: Folder, site: Site) -> Folder:
    below = Path(os.path.relpath(folder.root, site.root)).as_posix()
    return replace(folder, label=below.lstrip("./"))


def _prefix(docs: DocsFolder) -> str:
    return "" if docs.instance == "default" else f"{docs.instance}_"


def _version_names(site: Site, docs: DocsFolder) -> list[str]:
    try:
        names = json.loads((site.root / f"{_prefix(docs)}versions.json").read_text("utf-8"))
    except (OSError, ValueError):
        return []
    if not docs.versioned or not isinstance(names, list):
        return []
    return [name for name in names if isinstance(name, str)]


def _plain(path: Path) -> Tree:
    """A tree without a config: `docs` or `website/docs` below the folder where there is one, else itself."""
    if path.is_file():
        return Tree((Folder(path.parent, path.parent.name, ""),), path, None)
    for candidate in (path / "docs", path / "website" / "docs"):
        if candidate.is_dir() and any(is_page(relative) for relative in _walk(candidate, candidate)):
            return Tree((Folder(candidate, "docs", ""),), candidate, None)
    return Tree((Folder(path, path.name, ""),), path, None)


def _walk(
    root: Path, within: Path, unread: Callable[[OSError], None] | None = None
) -> Iterator[PurePosixPath]:
    """Every Markdown file below both folders, relative to `root`; a loop of links is walked once."""
    if within.is_file():
        yield PurePosixPath(within.relative_to(root).as_posix())
        return
    start = within if within.is_relative_to(root) else root
    seen = set()
    for folder, folders, files in os.walk(start, onerror=unread, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if name not in _NEVER)
        for name in files:
            if name.endswith(EXTENSIONS) and not _endless(os.path.join(folder, name)):  # noqa: PTH118 - faster
                yield PurePosixPath(Path(folder, name).relative_to(root).as_posix())


def _endless(path: str) -> bool:
    """A pipe or a device, which could be read forever; a link to nowhere is told of when it is read."""
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113 - faster
