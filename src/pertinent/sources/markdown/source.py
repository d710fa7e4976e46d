"""Read pages from a folder of Markdown: a Docusaurus site, its docs, or any other folder."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ... import identity
from ...errors import InvalidInput
from ...types import NAME_MAX, Page, Skipped, Unreadable
from ..front_matter import clean_front_matter
from ..locales import language_of_locale
from ..normal_form import HeadingPiece, Piece, assemble
from .docs_folders import DocsFolder, PageFile, open_tree
from .docusaurus_routes import join_url, page_title, route_page
from .large_files import PageTooLarge
from .parser import DocumentParser, PartialError, decode_markdown, describe_error
from .yaml_front_matter import FrontMatterError, bool_field, describe_page, split_front_matter

_GENERIC_NAMES = frozenset(("doc", "docs", "documentation", "site", "web", "website", "content", "/"))

UNKNOWN_ADDRESS = (
    "the address of the site is not written out in its docusaurus.config, which is not run, or has a user "
    "name in it, so its pages have file:// addresses; a search box on a site can't open those. --base-url "
    "sets the address of the docs"
)
EXCLUDED_VERSION = (
    "the docusaurus.config leaves this version out of the site, so its pages have file:// addresses. "
    "--base-url sets the address of the docs"
)


class MarkdownSource:
    """Read `.md` and `.mdx` files as pages, at the addresses that Docusaurus gives them.

    Args:
        path: A site, its docs folder or a part of it, any folder of Markdown, or one file.
        base_url: The address of the docs. Without it, the address comes from the site's config (`url`,
            `baseUrl`, `routeBasePath`); if that is unknown, each page has the `file://` address of its file.
        name: The source's name. By default it is the address of the docs, or a folder's name.
        follow_links: Read symlinks that lead outside the source folder.
    """

    def __init__(
        self,
        path: Path,
        *,
        base_url: str | None = None,
        name: str | None = None,
        follow_links: bool = False,
    ) -> None:
        self._tree = open_tree(path, follow_links=follow_links)
        self._path = path.resolve()
        self._base_url = _check_base_url(base_url)
        self._name = name
        if base_url and len(routes := {folder.route for folder in self._tree.folders}) > 1:
            raise InvalidInput("base_url", f"the site has {len(routes)} docs folders; give the path of one")

    @property
    def name(self) -> str:
        """The name given, else the address of the docs, else the name of a folder that says something.

        A part of the docs is a source with a name of its own, so that reading it again does not make the
        other pages look removed.
        """
        if self._name:
            return self._name
        folder = self._tree.folders[0]
        docs = self._docs_url(folder) or _folder_name(folder.root)
        within = self._tree.within
        part = within.relative_to(folder.root).as_posix() if within.is_relative_to(folder.root) else "."
        return docs if part == "." else f"{docs}/{part}"

    @property
    def location(self) -> str:
        """Where the files are on this machine."""
        return str(self._path)

    @property
    def language(self) -> str | None:
        """The language of the site's default locale; None without a config that names it."""
        site = self._tree.site
        return language_of_locale(site.locale) if site is not None else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the pages of a Docusaurus site have no addresses, if they have none."""
        without_address = [folder for folder in self._tree.folders if not self._docs_url(folder)]
        if self._tree.site is None or not without_address:
            return ()
        return (UNKNOWN_ADDRESS if any(folder.is_built for folder in without_address) else EXCLUDED_VERSION,)

    @property
    def total(self) -> int:
        """How many files may be pages, drafts included."""
        return len(self._listing[0])

    @cached_property
    def _listing(self) -> tuple[list[PageFile], list[tuple[DocsFolder, OSError]]]:
        return self._tree.list_files()

    def read(self) -> Iterator[Page | Unreadable | Skipped]:
        """Yield every page in the order of the paths, then how many files were skipped and why."""
        site = self._tree.site
        root = site.root if site else self._tree.folders[0].root.parent
        markdown_format = site.markdown_format if site else None
        parser = DocumentParser(root, self._tree.links, markdown_format=markdown_format)
        paths_by_url: dict[str, str] = {}
        unpublished = 0
        files, errors = self._listing
        for folder, error in errors:
            below = Path(error.filename).relative_to(folder.root).as_posix()
            reason = f"the folder can't be read: {error.strerror or error}"
            # `path_identifies_page=False`: any page may be in that folder, so none counts as removed.
            yield Unreadable(f"{folder.label}/{below}", reason, path_identifies_page=False)
        for folder, relative in files:
            source_path = f"{folder.label}/{relative}"
            try:
                page = self._read_page(folder, relative, source_path, parser)
            except UnicodeEncodeError:
                printable = source_path.encode("utf-8", "replace").decode()
                yield Unreadable(printable, "its name is not UTF-8; rename it")
            except (OSError, UnicodeDecodeError, FrontMatterError, PartialError, PageTooLarge) as error:
                yield Unreadable(source_path, describe_error(error))
            else:
                if page is None:
                    unpublished += 1
                    continue
                first = paths_by_url.setdefault(page.url, source_path)
                if first != source_path:
                    reason = f"has the same address as {first} ({page.url}); give one of them another `slug`"
                    yield Unreadable(source_path, reason)
                else:
                    yield page
        if unpublished:
            yield Skipped("drafts and unlisted pages", unpublished)
        yield from self._tree.list_skipped()

    def _read_page(
        self, folder: DocsFolder, relative: PurePosixPath, source_path: str, parser: DocumentParser
    ) -> Page | None:
        """Read one file; None for a draft or an unlisted page."""
        file = folder.root / relative
        fields, content = split_front_matter(decode_markdown(self._tree.links.read_file(file)))
        if bool_field(fields, "draft") or bool_field(fields, "unlisted"):
            return None
        route = route_page(relative, fields, number_prefixes=folder.number_prefixes)
        pieces = parser.parse(file, fields, content)
        del content  # a large file need not be in memory twice
        heading = _title_heading(pieces)
        title = page_title(fields, heading, route.fallback_title)[:NAME_MAX]
        if heading is None and not bool_field(fields, "hide_title"):
            pieces = [HeadingPiece(1, title, ""), *pieces]  # the built page shows its title, too
        text, sections = assemble(pieces, title)
        docs_url = self._docs_url(folder)
        url = identity.canonical_url(join_url(docs_url, route.path)) if docs_url else file.as_uri()
        slug = identity.ascii_slug(route.path) or identity.ascii_slug(route.fallback_title)
        slug = slug or f"page-{identity.digest(route.path)}"
        # The key has neither the path on this machine nor the docs folder's own name: a book that was
        # moved or renamed stays the same book.
        below = source_path if len(self._tree.folders) > 1 else str(relative)
        key = url if docs_url else f"{self.name}/{below}"
        kind = "docusaurus-page" if self._tree.site else "markdown-page"
        document_id = identity.document_id(key, slug)
        front_matter = clean_front_matter(describe_page(fields), title, text)
        return Page(document_id, url, title, source_path, slug, kind, text, sections, front_matter)

    def _docs_url(self, folder: DocsFolder) -> str | None:
        """Return the address of a docs folder, or None if it is unknown."""
        if self._base_url:
            return join_url(self._base_url, folder.version_path)
        site = self._tree.site
        if site is None or site.address is None or folder.route is None:
            return None
        return join_url(site.address, f"{folder.route}/{folder.version_path}")


def _check_base_url(base_url: str | None) -> str | None:
    if base_url is None:
        return None
    parts = urlsplit(base_url) if identity.is_url(base_url) else None
    if parts is not None and "@" in parts.netloc:
        raise InvalidInput("base_url", "must not contain a user name or a password; citations would show it")
    if parts is None or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise InvalidInput(
            "base_url", f"{base_url!r} is not an address such as https://handbook.example/docs"
        )
    return base_url.rstrip("/")


def _folder_name(folder: Path) -> str:
    """Return the name of a folder, or of the nearest one above it with a name that says something."""
    return next((name for name in reversed(folder.parts) if name.lower() not in _GENERIC_NAMES), "docs")


def _title_heading(pieces: list[Piece]) -> str | None:
    """Return the first heading if it is of level one; it is the page's title."""
    first = next((piece for piece in pieces if isinstance(piece, HeadingPiece)), None)
    return first.text if first is not None and first.level == 1 and first.text else None
