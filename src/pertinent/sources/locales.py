"""The language of a locale, as sites name it (`pt-BR`, `zh-Hans`), among those that search knows."""

from __future__ import annotations

import re

from ..types import NO_LANGUAGE

_LANGUAGES = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "ja": "japanese",
    "ko": "korean",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
    "zh": "chinese",
}
"""By the code of ISO 639-1."""

_LOCALE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]+)*", re.IGNORECASE)


def language_of_locale(locale: str | None) -> str | None:
    """Return the language of a locale; `none` if search has no stems for it, None if it is no locale.

    Examples:
        >>> language_of_locale("pt-BR"), language_of_locale("uk"), language_of_locale("")
        ('portuguese', 'none', None)
    """
    match = _LOCALE.fullmatch((locale or "").strip())
    return _LANGUAGES.get(match[1].lower(), NO_LANGUAGE) if match else None
