"""Fenced code as the built page shows it: language, title as a caption, no magic comments."""

from __future__ import annotations

import re
from functools import cache

from ..elements import code_block
from ..normal_form import BlockPiece

_TITLE = re.compile(r"title=([\"'])(.*?)\1")
_LINE_RANGE = re.compile(r"\{[\d,-]+\}")
_LANGUAGE = re.compile(r"[^\s{]*")
_MAGIC = "highlight-next-line|highlight-start|highlight-end"
# How comments begin and end, by style. The styles and the languages are those of Docusaurus.
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
_DEFAULT_STYLES = "js block jsx hash html"
_STYLES_BY_LANGUAGE = {
    language: styles
    for languages, styles in (
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
    for language in languages.split()
}


def render_fence(info: str, code: str) -> list[BlockPiece]:
    """Return the blocks of fenced code: its title, if it has one, and the code.

    Args:
        info: What follows the opening fence, such as `js title="app.js" {2}`.
        code: The lines between the fences.
    """
    match = _LANGUAGE.match(info.strip())
    language = match.group().lower() if match else ""
    meta = info.strip()[len(language) :]
    title = _TITLE.search(meta)
    if "highlight-" in code and not _LINE_RANGE.search(meta):  # with a range, Docusaurus keeps the comments
        comment = _magic_comment(_STYLES_BY_LANGUAGE.get(language, _DEFAULT_STYLES))
        code = "\n".join(line for line in code.split("\n") if not comment.fullmatch(line.strip()))
    return code_block(language, title.group(2) if title else "", code)


@cache
def _magic_comment(styles: str) -> re.Pattern[str]:
    """Return the pattern of a line that only marks lines to highlight, without space around it."""
    pairs = map(_STYLES.__getitem__, styles.split())
    comments = (rf"{start}\s*(?:{_MAGIC})" + (rf"\s*{end}" if end else "") for start, end in pairs)
    return re.compile("|".join(comments))
