"""A folder of Markdown as a source of pages: a Docusaurus site, its docs, or any other folder."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from .. import identity
from ..errors import InvalidInput
from ..types import Page, Unreadable
from .blocks import HeadingPiece, Piece, assemble
from .documents import Documents, decode
from .docusaurus import join, place, title_of
from .frontmatter import FrontMatterError, flag, split
from .tree import Folder, open_tree

_GENERIC = frozenset(("doc", "docs", "documentation", "site", "web", "website", "content", "/"))


class MarkdownSource:
    """Pages from `.md` and `.mdx` files, at the addresses that Docusaurus would give them.

    The address of the docs is `base_url` where it is given; else what the site's config says plainly
    (`url`, `baseUrl`, `routeBasePath`); else each page has the `file://` address of its file.
    """

    def __init__(self, path: Path, *, base_url: str | None = None, name: str | None = None) -> None:
        self._tree = open_tree(path)
        self._path = path.resolve()
        self._base_url = _checked(base_url)
        self._name = name
        self._unread: list[Unreadable] = []
        if base_url and len(routes := {folder.route for folder in self._tree.folders}) > 1:
            raise InvalidInput("base_url", f"the site has {len(routes)} docs folders; give the path of one")

    @property
    def name(self) -> str:
        """The given name, else the address of the docs, else the name of the folder or the one it is in.

        A part of the docs is a source of its own: to read it again says nothing of the other pages.
        """
        if self._name:
            return self._name
        folder = self._tree.folders[0]
        whole = self._address(folder) or _folder_name(folder.root)
        within = self._tree.within
        part = within.relative_to(folder.root).as_posix() if within.is_relative_to(folder.root) else "."
        return whole if part == "." else f"{whole}/{part}"

    @property
    def location(self) -> str:
        """Where the files are on this machine."""
        return str(self._path)

    @property
    def total(self) -> int:
        """How many files may be pages; drafts among them give none."""
        return len(self._files)

    @cached_property
    def _files(self) -> list[tuple[Folder, PurePosixPath]]:
        return list(self._tree.files(self._note_unread))

    def _note_unread(self, folder: Folder, error: OSError) -> None:
        below = Path(error.filename).relative_to(folder.root).as_posix()
        reason = f"the folder can't be read: {error.strerror or error}"
        # Its pages may all still be there.
        self._unread.append(Unreadable(f"{folder.label}/{below}", reason, named=False))

    def read(self) -> Iterator[Page | Unreadable]:
        """Every page, in the order of the paths; drafts and unlisted pages are passed over."""
        site = self._tree.site
        root = site.root if site else self._tree.folders[0].root.parent
        documents = Documents(root, markdown_format=site.markdown_format if site else None)
        claimed: dict[str, str] = {}
        files = self._files
        yield from self._unread
        for folder, relative in files:
            source_path = f"{folder.label}/{relative}"
            try:
                page = self._page(folder, relative, source_path, documents)
            except OSError as error:
                yield Unreadable(source_path, f"can't be opened: {error.strerror or error}")
            except UnicodeDecodeError as error:
                yield Unreadable(source_path, f"is not UTF-8 (byte {error.start}); save it as UTF-8")
            except UnicodeEncodeError:
                shown = source_path.encode("utf-8", "replace").decode()
                yield Unreadable(shown, "its name is not UTF-8; rename it")
            except FrontMatterError as error:
                yield Unreadable(source_path, str(error))
            else:
                if page is None:
                    continue
                other = claimed.setdefault(page.url, source_path)
                if other != source_path:
                    reason = f"has the same address as {other} ({page.url}); give one of them another `slug`"
                    yield Unreadable(source_path, reason)
                else:
                    yield page

    def _page(
        self, folder: Folder, relative: PurePosixPath, source_path: str, documents: Documents
    ) -> Page | None:
        path = folder.root / relative
        fields, content = split(decode(path.read_bytes()))
        if flag(fields, "draft") or flag(fields, "unlisted"):
            return None
        where = place(relative, fields, number_prefixes=folder.number_prefixes)
        pieces = documents.pieces(path, fields, content)
        heading = _content_title(pieces)
        title = title_of(fields, heading, where.fallback_title)
        if heading is None and not flag(fields, "hide_title"):
            pieces = [HeadingPiece(1, title, ""), *pieces]
        text, sections = assemble(pieces, title)
        base = self._address(folder)
        url = identity.canonical_url(join(base, where.route)) if base else path.as_uri()
        slug = identity.ascii_slug(where.route) or identity.ascii_slug(where.fallback_title)
        slug = slug or f"page-{identity.digest(where.route)}"
        # Neither the machine's path nor the folder's own name: a book that was moved is the same book.
        below = f"{folder.label}/{relative}" if len(self._tree.folders) > 1 else str(relative)
        key = url if base else f"{self.name}/{below}"
        kind = "docusaurus-page" if self._tree.site else "markdown-page"
        return Page(identity.document_id(key, slug), url, title, source_path, slug, kind, text, sections)

    def _address(self, folder: Folder) -> str | None:
        """The address of a docs folder, where it is known."""
        if self._base_url:
            return join(self._base_url, folder.version)
        site = self._tree.site
        if site is None or site.address is None or folder.route is None:
            return None
        return join(site.address, f"{folder.route}/{folder.version}")


def _checked(base_url: str | None) -> str | None:
    if base_url is None:
        return None
    parts = urlsplit(base_url) if identity.is_url(base_url) else None
    if parts is None or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise InvalidInput(
            "base_url", f"{base_url!r} is not an address such as https://handbook.example/docs"
        )
    return base_url.rstrip("/")


def _folder_name(folder: Path) -> str:
    """The first name from the folder upwards that says what the docs are about."""
    return next((name for name in reversed(folder.parts) if name.lower() not in _GENERIC), "docs")


def _content_title(pieces: list[Piece]) -> str | None:
    """The page's own title: its first heading, where that is of the first level."""
    first = next((piece for piece in pieces if isinstance(piece, HeadingPiece)), None)
    return first.text if first is not None and first.level == 1 and first.text else None
