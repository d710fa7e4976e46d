// Which words of a passage to mark for a query, and text with those words marked. Pure but for the nodes.
// The same rules as `pertinent search` has in the terminal.

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
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

/** What finds the query's words, in their other forms too; null where there is no word to find. */
export function pattern(query) {
  const words = [...new Set(query.toLowerCase().match(WORD) ?? [])];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const wanted = telling.length ? telling : words;
  if (!wanted.length) return null;
  // The last word may not be finished yet.
  const unfinished = /[\p{L}\p{M}\p{N}_]$/u.test(query) ? words.at(-1) : "";
  const parts = wanted.map((word) => forms(word, word === unfinished && !STOP_WORDS.has(word)));
  // The longest first, since the first alternative that fits wins.
  parts.sort((a, b) => b.length - a.length);
  return new RegExp(parts.join("|"), "giu");
}

function forms(word, unfinished) {
  // A word of letters and digits alone: nothing in it means something to a pattern.
  if (UNSPACED.test(word)) return word;
  const stem = stemOf(word);
  const open = stem.length >= SHORTEST_STEM || (unfinished && word.length >= SHORTEST_PREFIX);
  const tail = open ? `${stem}[\\p{L}\\p{M}\\p{N}_]*` : `${word}s?`;
  return `(?<![\\p{L}\\p{M}\\p{N}_])${tail}(?![\\p{L}\\p{M}\\p{N}_])`;
}

function stemOf(word) {
  const ending = ENDINGS.find((one) => word.endsWith(one) && word.length - one.length >= SHORTEST_STEM);
  return ending ? word.slice(0, -ending.length) : word;
}

/** Append text to an element, with what the pattern finds inside `<mark>`. */
export function appendMarked(element, text, words) {
  let from = 0;
  for (const match of words ? text.matchAll(words) : []) {
    element.append(text.slice(from, match.index));
    const mark = document.createElement("mark");
    mark.textContent = match[0];
    element.append(mark);
    from = match.index + match[0].length;
  }
  element.append(text.slice(from));
}
