// Syntax highlighting of code with highlight.js. Its HTML is parsed in a document of its own, and only the text and the
// classes of its elements are taken from there.

import { create } from "./dom.js";
import { splitByMatches } from "./highlight.js";

/** Languages that highlight.js does not know, and what it highlights them as. */
const ALIASES = new Map(Object.entries({
  astro: "xml", console: "shell", jsonc: "json", json5: "json", mdx: "markdown", svelte: "xml", vue: "xml",
}));

/** The library, when it has been loaded. The page does not wait for it: code is plain until then, or if it fails. */
let library = null;
const loading = import("./vendor/highlight.min.js").then((module) => { library = module.default; }).catch(() => {});

/** Fill an element with code: its tokens in colour if the language is known, with matches of the pattern marked. */
export function drawTokens(element, text, language, pattern) {
  const parts = splitByMatches(text, pattern);
  const draw = () => element.replaceChildren(...drawParts(parts, tokenize(text, language)));
  draw();
  if (language && !library) loading.then(draw);
}

/** Split code into tokens: `{text, kind}` in order; one without a kind if the language is not known. */
function tokenize(text, language) {
  const plain = [{ text, kind: "" }];
  const name = ALIASES.get(language?.toLowerCase()) ?? language;
  if (!name || !library?.getLanguage(name)) return plain;
  const { value } = library.highlight(text, { language: name, ignoreIllegals: true });
  const { body } = new DOMParser().parseFromString(`<pre>\n${value}</pre>`, "text/html");
  const tokens = readTokens(body.firstChild, "");
  // HTML drops some characters, such as NUL.
  return tokens.map((token) => token.text).join("") === text ? tokens : plain;
}

function readTokens(node, kind) {
  return [...node.childNodes].flatMap((child) => child.nodeType === Node.TEXT_NODE
    ? [{ text: child.data, kind }]
    : readTokens(child, child.className || kind));
}

/** Draw the parts of a text, each with its tokens; matches are marked as a whole, even if they have several tokens. */
function drawParts(parts, tokens) {
  let number = 0;
  let used = 0;
  return parts.map(({ start, end, isMatch }) => {
    const box = isMatch ? create("mark") : document.createDocumentFragment();
    for (let position = start; position < end;) {
      const { text, kind } = tokens[number];
      const length = Math.min(text.length - used, end - position);
      const token = text.slice(used, used + length);
      box.append(kind ? create("span", { class: kind }, token) : token);
      position += length;
      used += length;
      if (used === text.length) [number, used] = [number + 1, 0];
    }
    return box;
  });
}
