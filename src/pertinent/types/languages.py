"""The languages of a book."""

from __future__ import annotations

CJK_LANGUAGES = ("chinese", "japanese", "korean")
"""Languages that are split into pairs of characters; nothing in them is stemmed."""

NO_LANGUAGE = "none"
"""The language without stemming and stop words."""

LANGUAGES = (
    NO_LANGUAGE,
    *CJK_LANGUAGES,
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "czech",
    "danish",
    "dutch",
    "english",
    "esperanto",
    "estonian",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "persian",
    "polish",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "sesotho",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
    "yiddish",
)
"""The languages of a book; those with a stemmer are Snowball's."""
