"""MkDocs hooks: the pages of the repository's root, and the references of commands and errors.

README.md, ARCHITECTURE.md, CONTRIBUTING.md and CHANGELOG.md stand in the repository's root, where a forge
shows them. Here they become pages of the site, and links to and from them are rewritten. The reference of
the commands is the output of `--help`, and the tree of errors is that of their module, so that neither can
differ from the program.
"""

from __future__ import annotations

import re
from inspect import cleandoc, isclass
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import TYPE_CHECKING

from typer.main import get_command
from typer.testing import CliRunner

from pertinent import errors
from pertinent.surfaces.cli.app import app

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
COMMANDS_PAGE = "reference/commands.md"
ERRORS_PAGE = "reference/errors.md"
ROOT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""A file of the root, and the page of the site that it becomes."""

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)(?P<path>[^)#\s]+)")
_FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/."""
    from mkdocs.structure.files import File

    for name, page in ROOT_PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    files.append(File.generated(config, COMMANDS_PAGE, content=describe_commands()))
    files.append(File.generated(config, ERRORS_PAGE, content=describe_errors()))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links between the root and docs/ at the pages of the site."""
    del config, files
    return rewrite_links(markdown, page.file.src_uri)


def rewrite_links(markdown: str, page: str) -> str:
    """Rewrite relative links, which are right in the repository, as links between pages of the site.

    Args:
        markdown: The text of the page; its code blocks are left alone.
        page: The path of the page below docs/, such as `decisions/index.md`.

    """
    origins = {site_path: name for name, site_path in ROOT_PAGES.items()}
    folder = PurePosixPath(origins.get(page, f"docs/{page}")).parent

    def rewrite(link: re.Match[str]) -> str:
        target = normpath(str(folder / link["path"]))
        target = ROOT_PAGES.get(target, target.removeprefix("docs/"))
        return relpath(target, str(PurePosixPath(page).parent))

    parts = _FENCE.split(markdown)
    return "".join(part if part.startswith("```") else _LINK.sub(rewrite, part) for part in parts)


def describe_commands() -> str:
    """Write the reference of the commands: the help of each, as the terminal shows it."""
    names = get_command(app).commands  # type: ignore[attr-defined]
    sections = [f"## pertinent {name}\n\n{_help_block(name)}" for name in names]
    introduction = (
        "# Commands\n\nThe help of every command. The [guide](../guide.md) explains them with examples."
    )
    return "\n\n".join([introduction, _help_block(), *sections]) + "\n"


def describe_errors() -> str:
    """Write the reference of the errors: their tree, and an entry for each class."""
    introduction, tree = cleandoc(errors.__doc__ or "").split("\n\n", 1)
    classes = [
        name
        for name, value in vars(errors).items()
        if isclass(value) and issubclass(value, errors.PertinentError)
    ]
    entries = [f"::: pertinent.errors.{name}" for name in classes]
    return "\n\n".join(["# Errors", introduction, f"```text\n{cleandoc(tree)}\n```", *entries]) + "\n"


def _help_block(*command: str) -> str:
    environment = {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
    result = CliRunner(env=environment).invoke(app, [*command, "--help"], prog_name="pertinent")
    lines = [line.rstrip() for line in result.stdout.strip("\n").splitlines()]
    return "\n".join(["```text", *lines, "```"])
