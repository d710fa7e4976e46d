"""Find the docs folders of a path, and the Markdown files in them."""

from __future__ import annotations

import errno
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ..._internal.messages import format_count
from ..._internal.regular_files import read_regular_file
from ..._internal.safe_json import parse_json
from ...errors import InvalidInput, SourceError
from ...types import Skipped
from .docusaurus_config import DocsPlugin, SiteConfig, find_config, read_config
from .docusaurus_routes import EXTENSIONS, is_page
from .symlinks import LinkBoundary

_MAX_PARENTS = 4  # folders above the path in which to look for a config
_MAX_KINDS = 5  # kinds of other files that are named
_MAX_DEPTH = 100  # folders inside each other; each level makes every access to a file in it slower
_TOO_DEEP = f"it is more than {_MAX_DEPTH - 1} folders below the docs folder"


@dataclass(frozen=True, slots=True)
class DocsFolder:
    """A docs folder: `label` begins its source paths, `route` its addresses (None if unknown).

    `version` is empty for the version that readers land on, and `next` for the current docs of a site that
    has versions. `version_path` is its part of the addresses. A version that is not built has no address.
    """

    root: Path
    label: str
    route: str | None
    path_in_config: Path
    """The root as the config names it, with its links."""
    version: str = ""
    version_path: str = ""
    number_prefixes: bool = True
    is_built: bool = True


PageFile = tuple[DocsFolder, PurePosixPath]
"""A docs folder and the path of a file below it."""


@dataclass(frozen=True, slots=True)
class DocsTree:
    """The docs to read: folders, the part `within` them that was asked for, and the site's config."""

    folders: tuple[DocsFolder, ...]
    within: Path
    site: SiteConfig | None
    links: LinkBoundary
    other_versions: tuple[DocsFolder, ...] = ()
    """The docs folders of versions that are not read."""

    def list_skipped(self) -> list[Skipped]:
        """Count the files of the tree that are not read: posts, pages, other versions, other formats."""
        skipped = self.links.list_skipped()
        if self.site is not None and self.within == self.site.root:
            skipped += self._list_skipped_of_site(self.site)
        kinds = Counter(
            path.suffix or path.name
            for folder in self.folders
            for path in _walk_files(folder.root, self.within, self.links)
            if path.suffix not in EXTENSIONS and not any(part.startswith(("_", ".")) for part in path.parts)
        )
        if kinds:
            ordered = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
            names = ", ".join(f"{count:,} {kind}" for kind, count in ordered[:_MAX_KINDS])
            further = ", …" if len(kinds) > _MAX_KINDS else ""
            skipped.append(Skipped(f"files that are not Markdown: {names}{further}", kinds.total()))
        return skipped

    def _list_skipped_of_site(self, site: SiteConfig) -> Iterator[Skipped]:
        for kind, folders in (("posts of the blog", site.blogs), ("pages of the site", site.pages)):
            for folder in folders:
                root = site.root / folder
                if not self.links.is_in_project(root):
                    continue
                count = sum(map(is_page, _walk_markdown(root, root, self.links)))
                if count:
                    yield Skipped(f"{kind} in {folder}/; index that folder, too, if you want them", count)
        yield from self._list_skipped_versions("other versions", "; index their folders, too", is_built=True)
        yield from self._list_skipped_versions("versions that the config leaves out", is_built=False)
        for instance in site.unknown_docs:
            yield Skipped(
                f"of the docs plugin {instance!r}: the config computes its folder; index that folder, too", 0
            )
        if site.computed_docs:
            plugins = format_count(site.computed_docs, "docs plugin")
            yield Skipped(f"of {plugins} that the code of the config adds; index their folders, too", 0)

    def _list_skipped_versions(self, kind: str, advice: str = "", *, is_built: bool) -> Iterator[Skipped]:
        versions = {
            folder.version: len(_list_pages(folder, folder.root, self.links))
            for folder in self.other_versions
            if folder.is_built is is_built
        }
        if versions:
            yield Skipped(f"of {kind}: {', '.join(sorted(versions))}{advice}", sum(versions.values()))

    def list_files(self) -> tuple[list[PageFile], list[tuple[DocsFolder, OSError]]]:
        """List the file of every page in the order of the paths, and the errors of unreadable folders."""
        files: list[PageFile] = []
        errors: list[tuple[DocsFolder, OSError]] = []
        for folder in self.folders:
            folder_errors: list[OSError] = []
            pages = _list_pages(folder, self.within, self.links, folder_errors.append)
            files += [(folder, path) for path in pages]
            errors += [(folder, error) for error in folder_errors]
        return files, errors


def open_tree(path: Path, *, follow_links: bool = False) -> DocsTree:
    """Return the docs at a path: a site, its docs folder or a part of it, a plain folder, or one file.

    The root of a site with versions gives the version that readers see first. To read another version,
    give its own folder. Links that lead outside are read only with `follow_links`.
    """
    if not path.exists():
        raise InvalidInput(
            "source",
            f"{path} does not exist; give a folder of Markdown, a file, or the address of a site that begins "
            "with http:// or https://",
        )
    path = path.resolve()
    if path.is_file() and path.suffix not in EXTENSIONS:
        raise InvalidInput("source", f"{path.name} is not Markdown; give a .md or .mdx file, or a folder")
    links = LinkBoundary([path if path.is_dir() else path.parent], follow_links=follow_links)
    tree = _find_site_docs(path, links) or _find_plain_docs(path, links)
    if not tree.list_files()[0]:
        skipped = "".join(f" (skipped: {group.reason})" for group in links.list_skipped())
        raise SourceError(
            f"no Markdown pages below {path}; give the folder that holds the .md or .mdx files{skipped}"
        )
    return tree


def _find_site_docs(path: Path, links: LinkBoundary) -> DocsTree | None:
    """Return the docs of the Docusaurus site that a path belongs to; None if there is no such site."""
    for config in _find_configs_around(path if path.is_dir() else path.parent, links):
        site = read_config(config)
        folders = _list_docs_folders(site)
        links.set_project(_find_project(site.root))
        containing = tuple(
            folder
            for folder in folders
            if path.is_relative_to(folder.root) and links.is_in_project(folder.root)
        )
        if containing:
            links.add_folders(folder.root for folder in containing)
            links.set_site(site.root)
            return DocsTree(containing, path, site, links)
        if path.is_dir() and config.parent.is_relative_to(path):
            _check_folders_exist(config, folders)
            allowed = [folder for folder in folders if links.allows_docs(folder.path_in_config)]
            links.add_folders(folder.root for folder in allowed)
            links.set_site(site.root)
            versions = tuple(folder for folder in allowed if folder.version)
            current = tuple(folder for folder in allowed if not folder.version)
            return DocsTree(current or versions, config.parent, site, links, versions if current else ())
    return None


def _check_folders_exist(config: Path, folders: list[DocsFolder]) -> None:
    """Raise SourceError if one of several docs folders is missing: its pages would count as removed."""
    missing = [folder.path_in_config for folder in folders if not folder.path_in_config.is_dir()]
    if 0 < len(missing) < len(folders):
        names = ", ".join(_path_label(folder, config.parent) for folder in missing)
        raise SourceError(
            f"{config} needs a docs folder that is missing: {names}; nothing was changed. Restore the "
            "folder, correct the config, or give the path of another docs folder to read only that"
        )


def _find_project(site_root: Path) -> Path:
    """Return the folder of the project that a site belongs to: its Git repository, or the folder above it."""
    folders = (folder for folder in (site_root, *site_root.parents) if os.path.lexists(folder / ".git"))
    return next(folders, site_root.parent)


def _find_configs_around(folder: Path, links: LinkBoundary) -> Iterator[Path]:
    """Yield the configs in a folder and in the one site below it, then those of its parents.

    The site may be beside the docs, as in `docs/` and `website/docusaurus.config.js`.
    """
    for candidate in (folder, *list(folder.parents)[:_MAX_PARENTS]):
        if config := find_config(candidate):
            yield config
        below = _list_configs_below(candidate)
        if candidate != folder or (len(below) == 1 and links.allows(below[0].parent)):
            yield from below


def _list_configs_below(folder: Path) -> list[Path]:
    """List the configs one folder below; other processes may add and remove folders meanwhile."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names are enough
    except OSError:
        return []
    return list(filter(None, (find_config(folder / name) for name in names)))


def _list_docs_folders(site: SiteConfig) -> list[DocsFolder]:
    """List the docs folders of a site with their versions, each with a label of its own."""
    folders: list[DocsFolder] = []
    for docs in site.docs:
        prefix = "" if docs.instance == "default" else f"{docs.instance}_"
        names = _version_names(site.root / f"{prefix}versions.json", docs)
        built_versions = _select_versions(docs, names)
        newest = next((name for name in built_versions if name != "current"), "current")
        default_version = docs.last_version or newest
        current = site.root / docs.path
        candidates = [("current", current, current.resolve().name)]
        for name in names:
            label = f"{prefix}versioned_docs/version-{name}"
            candidates.append((name, site.root / label, label))
        for name, path, label in candidates:
            version = "" if name == default_version else "next" if name == "current" else name
            segment = docs.version_paths.get(name, version)
            is_built = name in built_versions
            # A missing folder of the default version is listed too: `_check_folders_exist` reports it.
            if path.is_dir() or not version:
                folders.append(
                    DocsFolder(
                        root=path.resolve(),
                        label=label,
                        route=docs.route if is_built else None,
                        path_in_config=path,
                        version=version,
                        version_path=segment,
                        number_prefixes=docs.number_prefixes,
                        is_built=is_built,
                    )
                )
    labels = [folder.label for folder in folders]
    return [
        replace(folder, label=_path_label(folder.root, site.root))
        if labels.count(folder.label) > 1
        else folder
        for folder in folders
    ]


def _select_versions(docs: DocsPlugin, names: list[str]) -> list[str]:
    """Return the versions that the site builds, of the current one and those named, newest first."""
    available = ["current", *names] if docs.includes_current else names
    return [name for name in available if docs.only_versions is None or name in docs.only_versions]


def _path_label(root: Path, site_root: Path) -> str:
    return Path(os.path.relpath(root, site_root)).as_posix().lstrip("./")


def _version_names(file: Path, docs: DocsPlugin) -> list[str]:
    """Return the names in `versions.json`, newest first; none if the file is missing or broken."""
    try:
        names = parse_json(read_regular_file(file))
    except (OSError, ValueError):
        return []
    if not docs.versioned or not isinstance(names, list):
        return []
    return [name for name in names if isinstance(name, str)]


def _find_plain_docs(path: Path, links: LinkBoundary) -> DocsTree:
    """Return the docs without a config: `docs` or `website/docs` below a folder, else the folder itself."""
    if path.is_file():
        return DocsTree((_plain_folder(path.parent, path.parent.name),), path, None, links)
    for candidate in (path / "docs", path / "website" / "docs"):
        if candidate.is_dir() and any(map(is_page, _walk_markdown(candidate, candidate, links))):
            return DocsTree((_plain_folder(candidate, "docs"),), candidate, None, links)
    return DocsTree((_plain_folder(path, path.name),), path, None, links)


def _plain_folder(root: Path, label: str) -> DocsFolder:
    return DocsFolder(root, label, "", root)


def _list_pages(
    folder: DocsFolder,
    within: Path,
    links: LinkBoundary,
    on_error: Callable[[OSError], None] | None = None,
) -> list[PurePosixPath]:
    """List the files of pages below both folders in the order of their paths."""
    return sorted(filter(is_page, _walk_markdown(folder.root, within, links, on_error)), key=str)


def _walk_markdown(
    root: Path, within: Path, links: LinkBoundary, on_error: Callable[[OSError], None] | None = None
) -> Iterator[PurePosixPath]:
    """Yield every Markdown file below both folders, relative to `root`."""
    return (path for path in _walk_files(root, within, links, on_error) if path.name.endswith(EXTENSIONS))


def _walk_files(
    root: Path, within: Path, links: LinkBoundary, on_error: Callable[[OSError], None] | None = None
) -> Iterator[PurePosixPath]:
    """Yield every file below both folders, relative to `root`.

    Links to folders come last, so that each folder is read under its own path; a folder is read once.
    """
    if within.is_file():
        yield PurePosixPath(within.relative_to(root).as_posix())
        return
    waiting = deque([str(within if within.is_relative_to(root) else root)])
    seen = set()
    while waiting:
        for folder, folders, files in os.walk(waiting.popleft(), onerror=on_error):
            real = os.path.realpath(folder)
            if real in seen:
                links.note_repeated(folder)
            if real in seen or not links.allows(folder):
                folders.clear()
                continue
            seen.add(real)
            if folder.count(os.sep) - str(root).count(os.sep) >= _MAX_DEPTH:
                if on_error:
                    on_error(OSError(errno.ENAMETOOLONG, _TOO_DEEP, folder))
                folders.clear()
                continue
            folders[:] = sorted(filter(_may_have_pages, folders))
            paths = (os.path.join(folder, name) for name in folders)  # noqa: PTH118 - faster
            waiting += filter(os.path.islink, paths)
            for name in files:
                file = os.path.join(folder, name)  # noqa: PTH118 - faster
                if not _is_pipe_or_device(file) and _may_read(file, links):
                    yield PurePosixPath(Path(folder, name).relative_to(root).as_posix())


def _may_have_pages(folder: str) -> bool:
    """Whether a folder with this name is read; a link with another name may lead to one that is not."""
    return folder != "node_modules" and not folder.startswith(("_", "."))


def _may_read(file: str, links: LinkBoundary) -> bool:
    """Whether a Markdown file is in the source; a broken link to a file in it is reported when it is read."""
    is_link = file.endswith(EXTENSIONS) and os.path.islink(file)  # noqa: PTH114 - faster
    return not is_link or links.allows(file)


def _is_pipe_or_device(path: str) -> bool:
    """Whether reading a file might never end. A broken symlink is reported when it is read."""
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113 - faster
