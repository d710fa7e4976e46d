"""Terms: the words of a text as search compares them, in every language.

Both sides of a comparison go through here: chunks, titles, headings and queries. A text is normalised
(NFKC, case folding), split into words, and each word is stemmed. An identifier counts whole and in
parts: `useWindowDimensions` gives `usewindowdimensions`, `use`, `window` and `dimensions`. Chinese,
Japanese and Korean have no spaces between words, so their characters count in pairs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeVar

import Stemmer
from qdrant_edge import Bm25, Bm25Config

from ..types import CJK_LANGUAGES, NO_LANGUAGE

Result = TypeVar("Result")

CACHED_WORDS = 20_000
"""How many words each function that analyses them caches."""

LONGEST_CACHED = 20
"""The longest text whose analysis is cached; nearly all words with their punctuation are shorter.

A query may be a single text of 2000 characters, whose analysis takes half a megabyte if it is Chinese.
"""

CACHED_QUERIES = 32
"""How many queries are cached as words and terms: about as many as are answered at once."""

# Accents, points and vowel signs, without which Hindi words would be cut in pieces: `\w` does not have them.
# Thai and the scripts after it are cut there: without spaces, a whole sentence would be one word.
_MARKS = "".join(mark for mark in map(chr, range(0x0300, 0x0E00)) if unicodedata.category(mark)[0] == "M")
_LETTERS = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
_TOKEN = re.compile(rf"{_LETTERS}(?:[._]+{_LETTERS})*")
_WORD = re.compile(_LETTERS)
_SEPARATORS = re.compile(r"[._]+")
_CJK_CHARACTERS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f"
_CJK = re.compile(f"[{_CJK_CHARACTERS}]+")
_CJK_CHARACTER = re.compile(f"[{_CJK_CHARACTERS}]")
_CJK_OR_OTHER = re.compile(f"[{_CJK_CHARACTERS}]+|[^{_CJK_CHARACTERS}]+")


def cache_short_texts(analyze: Callable[[str], Result]) -> Callable[[str], Result]:
    """Cache the results of a function for texts of at most `LONGEST_CACHED` characters."""
    cached = lru_cache(CACHED_WORDS)(analyze)
    return lambda text: cached(text) if len(text) <= LONGEST_CACHED else analyze(text)


class Token(NamedTuple):
    """A word as it stands in a text, with its place."""

    text: str
    start: int
    end: int


class Analyzer:
    """Splits texts into terms for one language. Thread-safe.

    Examples:
        >>> Analyzer("english").terms("Creating useWindowDimensions")
        ['creat', 'usewindowdimens', 'use', 'window', 'dimens']
    """

    def __init__(self, language: str = "english") -> None:
        """Prepare the stemmer and stop words of a language of `types.LANGUAGES`."""
        self.language = language
        self._stem_words = _make_stemmer(language)
        self._stem_word = cache_short_texts(lambda word: self._stem_words([word])[0])
        self._is_stop_word = _make_stop_word_test(language)
        self._analyze_piece = cache_short_texts(self._find_terms_and_length)
        self.split_query = lru_cache(CACHED_QUERIES)(self._split_query)

    def terms(self, text: str) -> list[str]:
        """Return the terms of the text in order, with repetitions and without stop words."""
        return self.terms_and_length(text)[0]

    def terms_and_length(self, text: str) -> tuple[list[str], int]:
        """Return the terms of the text, and the number of its words without stop words."""
        analyzed = list(map(self._analyze_piece, split_text(text)))
        terms = list(chain.from_iterable(piece_terms for piece_terms, _ in analyzed))
        return terms, sum(length for _, length in analyzed)

    def _find_terms_and_length(self, piece: str) -> tuple[tuple[str, ...], int]:
        terms = (self._stem_word(word) for word in _find_words(piece) if not self._is_stop_word(word))
        # The parts of an identifier do not make a text longer.
        length = sum(not self._is_stop_word(word.casefold()) for word in _WORD.findall(piece))
        return tuple(terms), length

    def _split_query(self, query: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the folded words and the terms of a query; stop words are terms if there are no others."""
        query_words = frozenset(words(query))
        return query_words, frozenset(self.terms(query)) or frozenset(map(self.stem, query_words))

    def stem(self, word: str) -> str:
        """Return the term of one folded word."""
        return self._stem_word(word)

    def stem_words(self, folded_words: Iterable[str]) -> list[str]:
        """Return the term of each folded word; that is faster than one by one."""
        return self._stem_words(list(folded_words))


def fold(text: str) -> str:
    """Return the text as words are compared: compatible characters unified, case removed."""
    return unicodedata.normalize("NFKC", text).casefold()


def words(text: str) -> Iterator[str]:
    """Return the folded words of a text, each identifier whole and then in parts.

    Catalogs store how often each of these words occurs, and subtract what a changed page had. If words are
    split differently, a migration of the catalog must recount them.
    """
    return chain.from_iterable(map(_find_words, split_text(text)))


def split_text(text: str) -> list[str]:
    """Normalise a text and split it at white space into pieces whose analysis can be cached.

    Most are a word with its punctuation. Splitting takes a third of the time that finding the words takes.
    """
    return unicodedata.normalize("NFKC", text).split()


@cache_short_texts
def _find_words(piece: str) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(_split_token, find_tokens(piece))))


def _split_token(token: str) -> tuple[str, ...]:
    """Return the folded words of a token: an identifier whole and in parts, CJK in pairs."""
    if _CJK.search(token):
        return tuple(
            word
            for part in split_cjk(Token(token, 0, len(token)))
            for word in ([part.text] if is_cjk(part.text) else words(part.text))
        )
    folded = token.casefold()
    if token.islower() and token.isalpha():
        return (folded,)
    parts = [part for piece in _SEPARATORS.split(token) for part in _split_case(piece)]
    return (folded, *(part.casefold() for part in parts)) if len(parts) > 1 else (folded,)


def is_cjk(word: str) -> bool:
    """Whether a word has Chinese, Japanese or Korean characters."""
    return _CJK.search(word) is not None


def find_tokens(text: str) -> list[str]:
    """Return the words of a text as they stand in it."""
    return _TOKEN.findall(text)


def split_sequence(text: str) -> list[str]:
    """Return the words of a text in order, without their separators; each CJK character is one."""
    return _WORD.findall(_CJK_CHARACTER.sub(r" \g<0> ", text))


def tokens(text: str) -> list[Token]:
    """Return the words of a text as they stand in it, with their places."""
    return [Token(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]


def split_cjk(token: Token) -> Iterator[Token]:
    """Yield the pairs of characters of each Chinese, Japanese or Korean run, and what is between the runs."""
    for run in _CJK_OR_OTHER.finditer(token.text):
        size = 2 if is_cjk(run.group()) else len(run.group())
        for start in range(run.start(), max(run.end() - size, run.start()) + 1):
            end = min(start + size, run.end())
            yield Token(token.text[start:end], token.start + start, token.start + end)


def _split_case(name: str) -> list[str]:
    """Split a name where its case or kind of character changes: `parseHTML5Page` is four parts."""
    parts = [name[0]]
    for position in range(1, len(name)):
        previous, character, remainder = name[position - 1], name[position], name[position + 1 :]
        if previous.isdigit() != character.isdigit():
            begins = True
        elif character.isupper():
            # The plural of an abbreviation (URLs) stays with it.
            begins = not previous.isupper() or (remainder[:1].islower() and remainder != "s")
        else:
            begins = False
        if begins:
            parts.append(character)
        else:
            parts[-1] += character
    return parts


def _make_stemmer(language: str) -> Callable[[list[str]], list[str]]:
    if language == NO_LANGUAGE or language in CJK_LANGUAGES:
        return list
    stem_words: Callable[[list[str]], list[str]] = Stemmer.Stemmer(language).stemWords
    return stem_words


def _make_stop_word_test(language: str) -> Callable[[str], bool]:
    """Return the test for stop words, with Qdrant's own lists; a language without a list has none."""
    try:
        model = Bm25(Bm25Config(language=language))
    except ValueError:
        return lambda _word: False
    return lambda word: not model.embed_query(word).indices
