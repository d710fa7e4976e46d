"""Pages from Markdown and MDX files, read as Docusaurus builds them."""

from .source import MarkdownSource

__all__ = ["MarkdownSource"]
