"""Pages of three chunks each, for tests that compare builds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PARTS = ("hinge", "spring", "cable")


def write_pages(folder: Path, names: Iterable[str]) -> Path:
    """Write a page of three sections for each name into a new folder, and return the folder."""
    folder.mkdir()
    for name in names:
        parts = "\n\n".join(
            f"## The {part}\n\nThe {part} of the {name} is oiled once a month, by somebody who knows it well."
            for part in PARTS
        )
        (folder / f"{name}.md").write_text(f"# The {name}\n\n{parts}\n")
    return folder
