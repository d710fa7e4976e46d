"""The language of an index: the setting, else what the source says, and the same for every later search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pertinent import build
from pertinent.errors import FingerprintMismatch
from pertinent.surfaces.cli.app import app
from pertinent.surfaces.library import Pertinent

from ..conftest import FAST
from ..sources.site.server import LocalSite, page, served

TEXT = "# Roboter\n\nDie Häuser der Roboter haben jeweils eine Tür, die sich von selbst öffnet."
"""Only a German stemmer finds `Haus` in it."""


@pytest.fixture(autouse=True)
def _quick_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_EMBEDDER", FAST)
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def site() -> Iterator[LocalSite]:
    with served() as started:
        yield started


def write_book(folder: Path, locale: str | None, text: str = TEXT) -> Path:
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    (folder / "docs" / "page.md").write_text(text, encoding="utf-8")
    translations = f"i18n: {{defaultLocale: '{locale}', locales: ['{locale}']}}," if locale else ""
    address = f"url: 'https://{folder.name}.example', baseUrl: '/'"
    config = f"module.exports = {{title: 'B', {address}, {translations}}};"
    (folder / "docusaurus.config.js").write_text(config, encoding="utf-8")
    return folder


def language_of(pertinent: Pertinent) -> str:
    fingerprint = pertinent.workspace.catalog().fingerprint()
    assert fingerprint is not None
    return build.index_language(fingerprint)


def find(pertinent: Pertinent, text: str) -> int:
    return len(pertinent.search(text, ranking="lexical", correct=False).hits)


def test_language_is_the_default_locale_of_docusaurus(tmp_path: Path) -> None:
    with Pertinent.open(tmp_path / "data") as pertinent:
        summary = pertinent.index(write_book(tmp_path / "buch", "de-CH"))
        assert (language_of(pertinent), summary.notes) == ("german", ())
    # Another process, whose settings have no language.
    with Pertinent.open(tmp_path / "data") as pertinent:
        assert find(pertinent, "Haus") == 1
        assert find(pertinent, "die") == 0  # a stop word
        assert pertinent.index(tmp_path / "buch").pages_unchanged == 1
        assert pertinent.reindex() == 1
        assert language_of(pertinent) == "german"


@pytest.mark.parametrize("locale", [None, "en", "computed' + x + '"])
def test_language_is_english_where_the_site_does_not_say(tmp_path: Path, locale: str | None) -> None:
    with Pertinent.open(tmp_path / "data") as pertinent:
        pertinent.index(write_book(tmp_path / "book", locale))
        assert language_of(pertinent) == "english"
        assert find(pertinent, "Haus") == 0


def test_language_of_the_settings_beats_that_of_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERTINENT_LANGUAGE", "none")
    with Pertinent.open(tmp_path / "data") as pertinent:
        summary = pertinent.index(write_book(tmp_path / "buch", "de"))
        assert (language_of(pertinent), summary.notes) == ("none", ())
        assert (find(pertinent, "Haus"), find(pertinent, "Häuser")) == (0, 1)
    monkeypatch.delenv("PERTINENT_LANGUAGE")
    with Pertinent.open(tmp_path / "data") as pertinent:
        assert (find(pertinent, "Haus"), find(pertinent, "Häuser")) == (0, 1)


def test_changed_language_is_refused_until_the_index_is_rebuilt(tmp_path: Path) -> None:
    with Pertinent.open(tmp_path / "data") as pertinent:
        pertinent.index(write_book(tmp_path / "buch", "en"))
    with Pertinent.open(tmp_path / "data", language="german") as pertinent:
        with pytest.raises(FingerprintMismatch, match=r"english.*german.*pertinent reindex"):
            pertinent.search("Haus")
        pertinent.reindex()
        assert find(pertinent, "Haus") == 1
    with Pertinent.open(tmp_path / "data") as pertinent:
        assert find(pertinent, "Haus") == 1


def test_source_in_another_language_is_noted(tmp_path: Path) -> None:
    with Pertinent.open(tmp_path / "data") as pertinent:
        pertinent.index(write_book(tmp_path / "book", "en"))
        german = write_book(tmp_path / "buch", "de")
        expected = (
            "the language of https://buch.example/docs is german, that of the index is english; "
            'to change it, set language = "german" and run `pertinent reindex`',
        )
        assert pertinent.plan(german).notes == expected
        assert pertinent.index(german).notes == expected
        assert language_of(pertinent) == "english"
    result = CliRunner().invoke(app, ["--folder", str(tmp_path / "data"), "index", str(german)])
    assert f"note: {expected[0]}\n" in result.stdout


def test_index_without_chunks_takes_the_language_of_its_source(tmp_path: Path) -> None:
    with Pertinent.open(tmp_path / "data") as pertinent:
        pertinent.index(write_book(tmp_path / "book", "en", text="---\ntitle: Empty\n---\n"))
        assert language_of(pertinent) == "english"
        pertinent.index(write_book(tmp_path / "buch", "de"))
        assert language_of(pertinent) == "german"
        assert find(pertinent, "Haus") == 1


@pytest.mark.parametrize("with_sitemap", [True, False])
def test_language_of_a_live_site_is_that_of_its_first_page(
    tmp_path: Path, site: LocalSite, with_sitemap: bool
) -> None:
    body = "<p>Die Häuser der Roboter haben jeweils eine Tür.</p>"
    site.pages["/"] = page("Roboter", body, lang="de-AT")
    if with_sitemap:
        site.sitemap("/")
    start = f"{site.address}/sitemap.xml" if with_sitemap else site.address
    with Pertinent.open(tmp_path / "data") as pertinent:
        assert pertinent.index(start).notes == ()
        assert language_of(pertinent) == "german"
        site.clear_requests()
        assert pertinent.index(start).pages_unchanged == 1
        assert site.requested_paths.count("/") == 1
        site.pages["/"] = page("Roboter", body, lang="pl")
        assert "is polish, that of the index is german" in pertinent.index(start).notes[0]


def test_live_site_that_names_no_language_is_english(tmp_path: Path, site: LocalSite) -> None:
    site.pages["/"] = page("Robots", lang="")
    with Pertinent.open(tmp_path / "data") as pertinent:
        pertinent.index(site.address)
        assert language_of(pertinent) == "english"
