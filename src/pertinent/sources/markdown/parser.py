"""Parse a Markdown file into pieces, with the partials that it imports."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..normal_form import Piece
from .docusaurus_routes import EXTENSIONS
from .jsx import Tag
from .large_files import PageTooLarge, check_size, is_divisible, parse_parts
from .mdx import markdown_parser
from .mdx_detection import looks_like_mdx
from .render import Renderer
from .symlinks import LinkBoundary
from .yaml_front_matter import FrontMatterError, split_front_matter

if TYPE_CHECKING:
    from markdown_it.token import Token

_MDX_FENCE = re.compile(r"^ *(`{3,4}) *mdx-code-block\n", re.MULTILINE)
_FENCE_END = re.compile(r"\n *(`{3,4})$", re.MULTILINE)
_MAX_DEPTH = 20  # partials in partials; a cycle is stopped earlier
_MAX_PARTIALS = 5_000  # that a page may show
_MAX_PARTIAL_CHARACTERS = 20_000_000  # that all of them may have


class PartialError(ValueError):
    """A page imports a partial that can't be read, or shows more partials than it may."""


class _Document(NamedTuple):
    """A parsed file: its tokens, and the paths that it imports by name."""

    tokens: Iterable[Token]
    """A list for a partial, which may be rendered many times; a page's tokens can be read once."""
    imports: Mapping[str, str]
    characters: int


def decode_markdown(content: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark, and turn all line ends into line feeds."""
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def describe_error(error: OSError | ValueError) -> str:
    """Say why a file can't be read as Markdown."""
    if isinstance(error, OSError):
        return f"can't be opened: {error.strerror or error}"
    if isinstance(error, UnicodeDecodeError):
        return f"is not UTF-8 (byte {error.start}); save it as UTF-8"
    return str(error)


def _open_mdx_blocks(content: str) -> str:
    """Remove the fences of blocks that are named `mdx-code-block`, and leave what is in them."""
    ends: dict[str, list[re.Match[str]]] = {}
    for match in _FENCE_END.finditer(content):
        ends.setdefault(match[1], []).append(match)
    parts: list[str] = []
    position = 0
    for match in _MDX_FENCE.finditer(content):
        fence_ends = ends.get(match[1], [])
        index = bisect_left(fence_ends, match.end(), key=re.Match.start)
        if match.start() < position or index == len(fence_ends):
            continue
        end = fence_ends[index]
        parts += content[position : match.start()], content[match.end() : end.start()]
        position = end.end()
    return "".join([*parts, content[position:]])


class DocumentParser:
    """Parse the files of one site; each partial is parsed once and cached.

    Args:
        site_root: The folder that `@site/` stands for in imports.
        links: Decides whether a partial behind a symlink is read.
        markdown_format: The site's format: `mdx`, `md`, or `detect` by the file's name. None if there is
            no site: then a `.md` file is MDX if its contents look like it.
    """

    def __init__(self, site_root: Path, links: LinkBoundary, *, markdown_format: str | None = None) -> None:
        self._site_root = site_root
        self._links = links
        self._format = markdown_format
        self._partials: dict[Path, _Document | str] = {}
        """Each partial that was read, or why it can't be read."""
        self._shown = 0
        self._shown_characters = 0

    def parse(self, path: Path, fields: Mapping[str, Any], content: str) -> list[Piece]:
        """Return the pieces of a page.

        Args:
            path: The page's file, which relative imports start from.
            fields: The page's front matter.
            content: The text below the front matter.

        Raises:
            PartialError: It shows a partial that can't be read, or more partials than a page may show:
                partials that include others twice double their number.
            PageTooLarge: Too much of it would have to be parsed in one go.
        """
        self._shown = self._shown_characters = 0
        if is_divisible(content):
            parser = markdown_parser(mdx=self._is_mdx(path, fields, content))
            document = _Document(parse_parts(parser, content), {}, len(content))
            return self._render(document, {}, (path,))
        return self._render(self._parse(path, fields, content), {}, (path,))

    def _parse(self, path: Path, fields: Mapping[str, Any], content: str) -> _Document:
        if "mdx-code-block" in content:
            content = _open_mdx_blocks(content)
        check_size(content)
        env: dict[str, Any] = {}
        tokens = markdown_parser(mdx=self._is_mdx(path, fields, content)).parse(content, env)
        return _Document(tokens, env.get("imports", {}), len(content))

    def _is_mdx(self, path: Path, fields: Mapping[str, Any], content: str) -> bool:
        """Decide by the page's front matter, then by the site, then by the file's name and contents."""
        options = fields.get("mdx")
        page_format = options.get("format") if isinstance(options, dict) else None
        chosen = page_format or self._format
        if chosen in ("md", "mdx"):
            return bool(chosen == "mdx")
        if path.suffix == ".mdx" or chosen == "detect":
            return path.suffix == ".mdx"
        return path in self._partials or looks_like_mdx(content)

    def _render(
        self, document: _Document, props: Mapping[str, str | None], open_files: tuple[Path, ...]
    ) -> list[Piece]:
        """Render a document; `open_files` are the files it is included from, and its own file last."""

        def include_partial(tag: Tag) -> Sequence[Piece] | None:
            path = self._resolve_import(document.imports.get(tag.name), open_files[-1])
            if path is None:
                return None
            if path in open_files or len(open_files) > _MAX_DEPTH:
                return []
            partial = self._load_partial(path)
            self._count_partial(partial)
            return self._render(partial, tag.attributes, (*open_files, path))

        return Renderer(include_partial, props).render(document.tokens)

    def _count_partial(self, partial: _Document) -> None:
        self._shown += 1
        self._shown_characters += partial.characters
        if self._shown > _MAX_PARTIALS or self._shown_characters > _MAX_PARTIAL_CHARACTERS:
            raise PartialError(
                f"it shows more than {_MAX_PARTIALS:,} partials, or {_MAX_PARTIAL_CHARACTERS:,} characters "
                "of them; partials that include others add up"
            )

    def _resolve_import(self, imported: str | None, importer: Path) -> Path | None:
        """Return the Markdown file that an import names; None if it names none."""
        if not imported or not imported.endswith(EXTENSIONS):
            return None
        if imported.startswith("@site/"):
            path = self._site_root / imported.removeprefix("@site/")
        elif imported.startswith("."):
            path = importer.parent / imported
        else:
            return None
        return path.resolve() if self._links.allows_import(path) else None

    def _load_partial(self, path: Path) -> _Document:
        """Return a parsed partial.

        Raises:
            PartialError: It can't be read. A page without its text would look like a changed page.
        """
        if path not in self._partials:
            self._partials[path] = ""  # marks it as a partial, which `_is_mdx` needs to know
            try:
                fields, content = split_front_matter(decode_markdown(self._links.read_file(path)))
                self._partials[path] = self._parse(path, fields, content)
            except (OSError, UnicodeDecodeError, FrontMatterError, PageTooLarge) as error:
                name = Path(os.path.relpath(path, self._site_root)).as_posix()
                self._partials[path] = f"the partial {name}, which it imports, {describe_error(error)}"
        partial = self._partials[path]
        if isinstance(partial, str):
            raise PartialError(partial)
        return partial
