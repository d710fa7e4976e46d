// Marked words: in snippets those that the service marked, in names those that begin as a word of the query.

import { create } from "./dom";

/** Markdown that a snippet has and a reader of plain text does not need. */
const MARKUP = new RegExp([
  String.raw`^[ \t]*(?:\x60{3,}|~{3,}).*$`, // fences
  // The line below the head of a table. Each column but the first needs its bar: without it there would be
  // countless ways to split a long line of dashes, and the browser would try them all.
  String.raw`^[ \t]*(?:\|[ \t]*)?:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*(?:\|[ \t]*)?$`,
  String.raw`^[ \t]*(?:#{1,6}|>|[-*+]|\|)[ \t]+`, // the beginning of headings, quotes, list items and rows
  String.raw`\*\*|\x60+`, // strong text and code
  String.raw`\\(?=[!-/:-@[-\x60{-~])`, // escapes
].join("|"), "gm");

/** Append a snippet to an element as plain text, with its marked words. */
export function appendSnippet(element: HTMLElement, snippet: string, highlights: [number, number][]): void {
  const characters = Array.from(snippet);
  const markup = findMarkup(snippet, characters);
  const pick = (start: number, end: number) =>
    characters.slice(start, end).filter((_, offset) => !markup.has(start + offset)).join("");
  let position = 0;
  for (const [start, end] of highlights) {
    element.append(pick(position, start), create("mark", {}, pick(start, end)));
    position = end;
  }
  element.append(pick(position, characters.length));
}

/** Return the positions of the characters that are markup, in code points. */
function findMarkup(snippet: string, characters: string[]): Set<number> {
  const codePoints = new Map<number, number>();
  let unit = 0;
  characters.forEach((character, position) => {
    codePoints.set(unit, position);
    unit += character.length;
  });
  const positions = new Set<number>();
  for (const match of snippet.matchAll(MARKUP)) {
    for (let offset = 0; offset < match[0].length; offset += 1) {
      const position = codePoints.get(match.index + offset);
      if (position !== undefined && characters[position] !== "\n") positions.add(position);
    }
  }
  return positions;
}

/** Append a name to an element, with the words that begin as a word of the query marked. */
export function appendName(element: HTMLElement, name: string, query: string): void {
  const words = Array.from(new Set(query.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu)));
  // The longest first: the first alternative that matches wins.
  words.sort((a, b) => b.length - a.length);
  const pattern = words.length ? new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])(?:${words.join("|")})`, "giu") : null;
  let position = 0;
  for (const match of pattern ? name.matchAll(pattern) : []) {
    element.append(name.slice(position, match.index), create("mark", {}, match[0]));
    position = match.index + match[0].length;
  }
  element.append(name.slice(position));
}
