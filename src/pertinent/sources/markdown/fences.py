"""Code blocks as the built page shows them: the language, the title as a caption, no magic comments."""

from __future__ import annotations

import re
from functools import cache

from ..elements import code_block
from ..normal_form import BlockPiece

_TITLE = re.compile(r"title=([\"'])(.*?)\1")
_LINES = re.compile(r"\{[\d,-]+\}")
_LANGUAGE = re.compile(r"[^\s{]*")
_DIRECTIVES = "highlight-next-line|highlight-start|highlight-end"
_STYLES = {
    "js": (r"//", ""),
    "block": (r"/\*", r"\*/"),
    "jsx": (r"\{\s*/\*", r"\*/\s*\}"),
    "hash": (r"#", ""),
    "html": (r"<!--", r"-->"),
    "lua": (r"--", ""),
    "wasm": (r";;", ""),
    "tex": (r"%", ""),
    "vb": (r"(?:_\s*)?['‘’]", ""),
    "rem": (r"[Rr][Ee][Mm]\b", ""),
    "f90": (r"!", ""),
    "ml": (r"\(\*", r"\*\)"),
    "cobol": (r"\*>", ""),
}
_POPULAR = "js block jsx hash html"
_BY_LANGUAGE = {
    name: styles.split()
    for names, styles in (
        ("js javascript ts typescript", "js block"),
        ("jsx tsx", "js block jsx"),
        ("html", "js block html"),
        ("python py bash", "hash"),
        ("markdown md", "html jsx hash"),
        ("tex latex matlab", "tex"),
        ("lua haskell", "lua"),
        ("sql", "lua block"),
        ("wasm", "wasm"),
        ("vb vba visual-basic vbnet", "vb rem"),
        ("batch", "rem"),
        ("basic", "rem f90"),
        ("fsharp", "js ml"),
        ("ocaml sml", "ml"),
        ("fortran", "f90"),
        ("cobol", "cobol"),
    )
    for name in names.split()
}


def fence(info: str, code: str) -> list[BlockPiece]:
    """The blocks of a fence with this info string: its title, where it has one, and the code."""
    match = _LANGUAGE.match(info.strip())
    language = match.group().lower() if match else ""
    meta = info.strip()[len(language) :]
    title = _TITLE.search(meta)
    if not _LINES.search(meta):  # with a range in the fence's line, Docusaurus leaves the code alone
        code = _without_magic_comments(code, language)
    return code_block(language, title.group(2) if title else "", code)


def _without_magic_comments(code: str, language: str) -> str:
    if "highlight-" not in code:
        return code
    pattern = _magic(language)
    return "\n".join(line for line in code.split("\n") if not pattern.fullmatch(line))


@cache
def _magic(language: str) -> re.Pattern[str]:
    styles = [_STYLES[name] for name in _BY_LANGUAGE.get(language, _POPULAR.split())]
    either = "|".join(rf"{start}\s*(?:{_DIRECTIVES})\s*{end}" for start, end in styles)
    return re.compile(rf"\s*(?:{either})\s*")
