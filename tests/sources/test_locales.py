"""Locales of sites, as languages that search knows."""

from __future__ import annotations

import pytest

from pertinent.sources import locales
from pertinent.sources.locales import language_of_locale
from pertinent.types import LANGUAGES, NO_LANGUAGE


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ("en", "english"),
        ("en_US", "english"),
        ("DE", "german"),
        ("pt-BR", "portuguese"),
        ("zh-Hans", "chinese"),
        ("zh-Hant-TW", "chinese"),
        ("ja-JP", "japanese"),
        ("nb", "norwegian"),
        ("uk", NO_LANGUAGE),
        ("vi-VN", NO_LANGUAGE),
        ("fil", NO_LANGUAGE),
        (" fr ", "french"),
        ("x-default", None),
        ("english", None),
        ("{{ lang }}", None),
        ("", None),
        (None, None),
    ],
)
def test_locale_is_a_language_of_search(locale: str | None, language: str | None) -> None:
    assert language_of_locale(locale) == language


def test_every_language_of_search_has_a_locale() -> None:
    assert {*locales._LANGUAGES.values(), NO_LANGUAGE} == {*LANGUAGES}
