"""Correction and completion of query words that the book does not have.

A word that the book does not have is replaced by the word that the reader most likely meant. The last word
is completed; any other word, and a last word without a completion, is corrected by one edit (two from eight
letters on). Words in quotes and numbers are never changed. Words that exist in the language or have a digit,
and other forms of words of the book, are not corrected. The answer says what was searched for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from .book_words import BookWords
from .terms import fold, is_cjk, tokens

MIN_CORRECTED = 4
"""The fewest letters of a word that is corrected: shorter ones are abbreviations as often as typos."""
MIN_TWO_EDITS = 8
"""The fewest letters of a word in which two edits are corrected."""
MAX_UNKNOWN = 10
"""A query with more unknown words is not corrected: they are no typos, and to correct each takes time."""
MIN_COMPLETED = 2
"""The fewest letters of a word that is completed without a name that it fits."""

_PHRASE = re.compile(r'"([^"]*)"|“([^”]*)”')


@dataclass(frozen=True, slots=True)
class SearchText:
    """A query as it is searched for."""

    text: str
    """What is embedded and looked up; phrases stand without their quotes."""
    phrases: tuple[str, ...] = ()
    """Quoted phrases of two words or more, or of CJK characters, each of which a passage must contain."""
    corrected: bool = False
    """Whether words were completed or corrected."""


def read_query(query: str, book: BookWords, is_word: Callable[[str], bool], *, correct: bool) -> SearchText:
    """Take the quoted phrases out of a query, and correct the other words.

    Args:
        query: The text as it was typed.
        book: The words of the book.
        is_word: Whether a folded word exists in the language, so that it is no typo.
        correct: Whether unknown words are replaced.
    """
    in_quotes = [_unquote(match).strip() for match in _PHRASE.finditer(query)]
    phrases = tuple(filter(_is_phrase, in_quotes))
    text = _PHRASE.sub(_unquote, query)
    if not text.strip():
        # Hosted models refuse an empty text.
        return SearchText(query)
    if not correct or not book.vocabulary.words:
        return SearchText(text, phrases)
    quoted = {fold(token.text) for words in in_quotes for token in tokens(words)}
    corrected = _correct_words(text, quoted, book, is_word)
    return SearchText(corrected, phrases, corrected != text)


def _unquote(match: re.Match[str]) -> str:
    return match.group(1) or match.group(2) or ""


def _is_phrase(text: str) -> bool:
    """Whether a text has several words; Chinese, Japanese and Korean may have no spaces between them."""
    words = tokens(text)
    return len(words) > 1 or any(is_cjk(word.text) for word in words)


def _correct_words(text: str, quoted: set[str], book: BookWords, is_word: Callable[[str], bool]) -> str:
    typed = tokens(text)
    searched = [fold(token.text) for token in typed]
    replaceable = [
        number
        for number, word in enumerate(searched)
        if word not in quoted and not _is_fixed(word, text[: typed[number].start])
    ]
    words = {searched[number] for number in replaceable}
    if sum(word not in book and not is_word(word) for word in words) > MAX_UNKNOWN:
        return text
    replacements: dict[str, str] = {}  # a query may repeat a word hundreds of times
    for number in replaceable:
        word = searched[number]
        if typed[number].end == len(text):
            searched[number] = _replace_word(word, searched[:number], book, is_word)
            continue
        if word not in replacements:
            replacements[word] = _replace_word(word, None, book, is_word)
        searched[number] = replacements[word]
    for token, word in reversed([*zip(typed, searched, strict=True)]):
        if word != fold(token.text):
            text = text[: token.start] + book.names.spell(word) + text[token.end :]
    return text


def _is_fixed(word: str, preceding: str) -> bool:
    """Whether a word is never replaced: a number, CJK, and what follows an apostrophe (`can't`)."""
    has_letter = any(letter.isalpha() for letter in word)
    return not has_letter or is_cjk(word) or preceding.endswith(("'", "’"))


def _replace_word(
    word: str, preceding: Sequence[str] | None, book: BookWords, is_word: Callable[[str], bool]
) -> str:
    """Return the word to search for.

    Args:
        word: The folded word as it was typed.
        preceding: The words before it, if it is the last one and may be unfinished.
        book: The words of the book.
        is_word: Whether a word exists in the language.
    """
    if preceding is not None and (completion := _complete_name(word, preceding, book)):
        return completion
    if word in book or is_word(word):
        return word
    if preceding is None:
        return _correct_word(word, book) or word
    replacement = _complete_word(word, book) or _correct_word(word, book) or word
    # The corrected word may be the beginning of a name, as it would be if it had been typed.
    return _complete_name(replacement, preceding, book) or replacement


def _complete_name(word: str, preceding: Sequence[str], book: BookWords) -> str | None:
    """Complete the last word so that a name has all words of the query; None if a name has them already."""
    if (word in book and not preceding) or not any(True for _ in book.names.with_prefix(word)):
        return None
    fitting = book.names.find(preceding)
    if fitting & book.names.with_word(word):
        return None
    # A name that begins with what was typed comes before one that has the words somewhere.
    fitting = set(book.names.starting_with(" ".join([*preceding, word]))) or fitting
    completions = {
        completion: names & fitting
        for completion, names in book.names.with_prefix(word)
        if completion not in preceding
    }
    best = max(
        (completion for completion, names in completions.items() if names),
        key=lambda completion: (
            any(not book.names.section(number).section for number in completions[completion]),
            *_prominence(completion, book),
        ),
        default=None,
    )
    # Another form of a known word finds nothing that the word does not find.
    is_form = best is not None and word in book and book.analyzer.stem(best) == book.analyzer.stem(word)
    return None if is_form else best


def _complete_word(word: str, book: BookWords) -> str | None:
    if len(word) < MIN_COMPLETED:
        return None
    return max(book.with_prefix(word), key=lambda completion: _prominence(completion, book), default=None)


def _correct_word(word: str, book: BookWords) -> str | None:
    if book.has_form(word) or any(letter.isdigit() for letter in word):
        return None
    # The first letter is rarely wrong, but may be swapped with the second, or be one too many.
    choices = [choice for letter in sorted(set(word[:2])) for choice in book.with_prefix(letter)]
    ranked = (
        (-edits, *_prominence(correction, book), correction)
        for correction, edits in find_near_words(word, choices)
    )
    return max(ranked, default=(None,))[-1]


def find_near_words(word: str, choices: Sequence[str]) -> list[tuple[str, int]]:
    """Return the choices that the word may be a typo of, each with its number of edits; nearest first."""
    if len(word) < MIN_CORRECTED:
        return []
    max_edits = 2 if len(word) >= MIN_TWO_EDITS else 1
    near = process.extract(word, choices, scorer=OSA.distance, score_cutoff=max_edits, limit=None)
    return [(choice, int(edits)) for choice, edits, _ in near]


def _prominence(word: str, book: BookWords) -> tuple[bool, bool, int]:
    """Sort words of titles before words of headings before others, then the more frequent first."""
    counts = book.counts(word)
    return counts.titles > 0, counts.headings > 0, counts.texts
