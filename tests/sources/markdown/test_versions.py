"""Which versions of its docs a site has; every address was read off a build with Docusaurus 3.10.2."""

from __future__ import annotations

from pathlib import Path

import pytest

from pertinent.sources.markdown import MarkdownSource
from pertinent.sources.markdown.source import EXCLUDED_VERSION

from .conftest import WriteBook, read_pages, read_skipped

BASE = "https://x.example/docs"
FOLDERS = {
    "current": "docs",
    "2.0": "versioned_docs/version-2.0",
    "1.0": "versioned_docs/version-1.0",
}


def write_versions(write_book: WriteBook, options: str) -> Path:
    """Write a site with three versions of a page; its text is the name of its version."""
    config = f"{{url: 'https://x.example', baseUrl: '/', presets: [['classic', {{docs: {options}}}]]}}"
    pages = {f"{folder}/a.md": version for version, folder in FOLDERS.items()}
    return write_book({"docusaurus.config.js": f"x = {config}", "versions.json": '["2.0", "1.0"]', **pages})


@pytest.mark.parametrize(
    ("options", "addresses"),
    [
        ("{}", {"current": "/next/a", "2.0": "/a", "1.0": "/1.0/a"}),
        ("{onlyIncludeVersions: undefined}", {"current": "/next/a", "2.0": "/a", "1.0": "/1.0/a"}),
        ("{onlyIncludeVersions: ['1.0']}", {"1.0": "/a"}),
        ("{onlyIncludeVersions: ['current']}", {"current": "/a"}),
        ("{onlyIncludeVersions: ['1.0', '2.0']}", {"2.0": "/a", "1.0": "/1.0/a"}),
        ("{onlyIncludeVersions: ['current', '1.0']}", {"current": "/next/a", "1.0": "/a"}),
        ("{includeCurrentVersion: false}", {"2.0": "/a", "1.0": "/1.0/a"}),
        ("{onlyIncludeVersions: ['current'], disableVersioning: true}", {"current": "/a"}),
    ],
)
def test_versions_have_the_addresses_of_the_built_site(
    write_book: WriteBook, options: str, addresses: dict[str, str]
) -> None:
    root = write_versions(write_book, options)
    for version, folder in FOLDERS.items():
        (page,) = read_pages(root / folder).values()
        address = BASE + addresses[version] if version in addresses else (root / folder / "a.md").as_uri()
        assert (page.url, page.text) == (address, f"# a\n\n{version}")
    (page,) = read_pages(root).values()
    (first,) = (version for version, path in addresses.items() if path == "/a")
    assert (page.url, page.text) == (f"{BASE}/a", f"# a\n\n{first}")


def test_versions_that_the_config_leaves_out_are_named(write_book: WriteBook) -> None:
    root = write_versions(write_book, "{onlyIncludeVersions: ['1.0', '2.0']}")
    assert read_skipped(root) == {
        "of other versions: 1.0; index their folders, too": 1,
        "of versions that the config leaves out: next": 1,
    }
    assert MarkdownSource(root / "docs").notes == (EXCLUDED_VERSION,)
    assert MarkdownSource(root / "docs", base_url="https://y.example").notes == ()
    assert MarkdownSource(root / FOLDERS["1.0"]).notes == MarkdownSource(root).notes == ()
