// Highlighting of the query's words: those that the service marked in snippets, and, in titles and in the rest of a
// passage, the query's words and their inflections.

import { create } from "./dom.js";

/** A character of a word. */
const LETTER = String.raw`[\p{L}\p{M}\p{N}_]`;
const WORD = new RegExp(`${LETTER}+`, "gu");
/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const ENDINGS = ["ings", "ing", "edly", "ed", "ies", "es", "s", "ly", "e", "y"];
const SHORTEST_STEM = 4;
const SHORTEST_PREFIX = 3;
const STOP_WORDS = new Set((
  "a about an and any are as at be been but by can could did do does each for from had has have how " +
  "i if in into is it its me my no not of on or other our shall should so some such than that the " +
  "their them then there these they this to us was we were what when where which who whom whose why " +
  "will with would you your"
).split(" "));

/** Return a pattern that matches the query's words, their inflections and the marked words; null without words. */
export function buildPattern(query, markedWords = []) {
  const words = listWords(query);
  const contentWords = words.filter((word) => !STOP_WORDS.has(word));
  const highlighted = contentWords.length ? contentWords : words;
  if (!highlighted.length) return null;
  // The reader may still be typing the last word.
  const unfinished = new RegExp(`${LETTER}$`, "u").test(query) ? words.at(-1) : "";
  const patterns = highlighted.map((word) => buildWordPattern(word, word === unfinished && !STOP_WORDS.has(word)));
  return joinPatterns([...patterns, ...markedWords.map(buildExactPattern)]);
}

/** Return the words of a query, each once and in lower case. */
function listWords(query) {
  return [...new Set(query.toLowerCase().match(WORD) ?? [])];
}

/** Return a pattern that matches any of the patterns; the longest are tried first. */
function joinPatterns(patterns) {
  const longestFirst = patterns.toSorted((a, b) => b.length - a.length);
  return new RegExp(longestFirst.join("|"), "giu");
}

function buildWordPattern(word, isUnfinished) {
  // Words hold letters, digits and underscores only, so nothing needs escaping.
  if (UNSPACED.test(word)) return word;
  const stem = stemWord(word);
  const allowsAnyEnding = stem.length >= SHORTEST_STEM || (isUnfinished && word.length >= SHORTEST_PREFIX);
  return matchWholeWord(allowsAnyEnding ? `${stem}${LETTER}*` : `${word}s?`);
}

function matchWholeWord(pattern) {
  return `(?<!${LETTER})${pattern}(?!${LETTER})`;
}

function buildExactPattern(word) {
  const escaped = word.replace(/[^\p{L}\p{M}\p{N}_]/gu, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
  return UNSPACED.test(word) ? escaped : matchWholeWord(escaped);
}

function stemWord(word) {
  const ending = ENDINGS.find((suffix) => word.endsWith(suffix) && word.length - suffix.length >= SHORTEST_STEM);
  return ending ? word.slice(0, -ending.length) : word;
}

/** Return a pattern that matches the query's words where words begin; null for a query without words. */
export function buildPrefixPattern(query) {
  const words = listWords(query);
  if (!words.length) return null;
  // A part of a name with underscores is a word of it.
  return joinPatterns(words.map((word) => UNSPACED.test(word) ? word : `(?<![\\p{L}\\p{M}\\p{N}])${word}`));
}

/** Append text to an element, with matches of the pattern inside `<mark>`. */
export function appendHighlighted(element, text, pattern) {
  for (const { start, end, isMatch } of splitByMatches(text, pattern)) {
    const part = text.slice(start, end);
    element.append(isMatch ? create("mark", {}, part) : part);
  }
}

/** Split a text into the matches of a pattern and what is between them. */
export function splitByMatches(text, pattern) {
  const parts = [];
  let position = 0;
  for (const match of pattern ? text.matchAll(pattern) : []) {
    parts.push({ start: position, end: match.index, isMatch: false });
    position = match.index + match[0].length;
    parts.push({ start: match.index, end: position, isMatch: true });
  }
  parts.push({ start: position, end: text.length, isMatch: false });
  return parts.filter(({ start, end }) => start < end);
}
