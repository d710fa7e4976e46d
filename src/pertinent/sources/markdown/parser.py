"""A Markdown file to pieces, with the partials that it imports in their places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..normal_form import Piece
from .docusaurus_routes import EXTENSIONS
from .frontmatter import FrontMatterError, split
from .jsx import Tag
from .mdx import parser, parses_as_mdx
from .render import Renderer

if TYPE_CHECKING:
    from markdown_it.token import Token

_UNWRAP = re.compile(r"^ *(`{3,4}) *mdx-code-block\n(.*?)\n *\1$", re.MULTILINE | re.DOTALL)
_DEEPEST = 20  # partials in partials; a cycle stops at once, this stops a tower


def decode(data: bytes) -> str:
    """UTF-8 without its mark, with the line ends of Unix."""
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


class Documents:
    """Parses files and remembers what each partial held, for one walk over a tree."""

    def __init__(self, site: Path, *, markdown_format: str | None = None) -> None:
        self._site = site
        self._format = markdown_format
        self._parsed: dict[Path, tuple[list[Token], dict[str, str]] | None] = {}

    def pieces(self, path: Path, fields: Mapping[str, Any], content: str) -> list[Piece]:
        """The pieces of a page whose front matter is already off."""
        tokens, imports = self._parse(path, fields, content)
        return self._render(tokens, imports, path, {}, (path,))

    def _parse(
        self, path: Path, fields: Mapping[str, Any], content: str
    ) -> tuple[list[Token], dict[str, str]]:
        if "mdx-code-block" in content:
            content = _UNWRAP.sub(r"\2", content)
        env: dict[str, Any] = {}
        tokens = parser(mdx=self._is_mdx(path, fields, content)).parse(content, env)
        return tokens, env.get("imports", {})

    def _is_mdx(self, path: Path, fields: Mapping[str, Any], content: str) -> bool:
        """By the page, then by the site, then by the file's name; without a site, `.md` by its contents."""
        options = fields.get("mdx")
        wanted = options.get("format") if isinstance(options, dict) else None
        wanted = wanted or self._format
        if wanted in ("md", "mdx"):
            return bool(wanted == "mdx")
        if path.suffix == ".mdx" or wanted == "detect":
            return path.suffix == ".mdx"
        return path in self._parsed or parses_as_mdx(content)

    def _render(
        self,
        tokens: Sequence[Token],
        imports: Mapping[str, str],
        path: Path,
        props: Mapping[str, str | None],
        open_files: tuple[Path, ...],
    ) -> list[Piece]:
        def include(tag: Tag) -> Sequence[Piece] | None:
            target = self._target(imports.get(tag.name), path)
            if target is None:
                return None
            if target in open_files or len(open_files) > _DEEPEST:
                return []
            held = self._partial(target)
            if held is None:
                return []
            return self._render(*held, target, tag.attributes, (*open_files, target))

        return Renderer(include, props).render(tokens)

    def _target(self, imported: str | None, path: Path) -> Path | None:
        if not imported or not imported.endswith(EXTENSIONS):
            return None
        if imported.startswith("@site/"):
            return (self._site / imported.removeprefix("@site/")).resolve()
        return (path.parent / imported).resolve() if imported.startswith(".") else None

    def _partial(self, path: Path) -> tuple[list[Token], dict[str, str]] | None:
        """A partial's tokens; one that can't be read shows nothing, and the page goes on."""
        if path not in self._parsed:
            self._parsed[path] = None  # known as a partial, which only MDX can import
            try:
                fields, content = split(decode(path.read_bytes()))
                self._parsed[path] = self._parse(path, fields, content)
            except (OSError, UnicodeDecodeError, FrontMatterError):
                pass
        return self._parsed[path]
