// A passage's Markdown as nodes. What it can't name is text, and text is only ever set as text: no passage
// can bring an element, a link or a script of its own. A passage may begin or end inside a fence or a table.

import { appendMarked } from "./marking.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^(#{1,6})\s+(.+?)\s*#*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const ROW = /^\s*\|.*\|\s*$/;
const RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const INLINE_CODE = /(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/gs;

/** The passage as a fragment, with the words that the pattern finds marked. */
export function render(text, words = null) {
  const fragment = document.createDocumentFragment();
  for (const block of blocks(text)) fragment.append(...DRAW[block.kind](block, words));
  return fragment;
}

/** The passage as blocks: `{kind, …}` in order. */
export function blocks(text) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  if (isCutCode(lines)) return [{ kind: "code", lines, info: "" }];
  return read(lines, startsInFence(lines));
}

// A fence that closes bears no name. So one that is the first, and bare, closes what began before the
// passage when another that bears a name follows, or when it would stay open to the end.
function startsInFence(lines) {
  const fences = lines.map((line) => FENCE.exec(line)).filter(Boolean);
  if (!fences.length || fences[0][2].trim()) return false;
  return fences.length % 2 === 1 || fences[1][2].trim() !== "";
}

// The middle of a long listing has no fence at all; its indentation gives it away.
function isCutCode(lines) {
  const written = lines.filter((line) => line.trim());
  if (written.length < 2 || lines.some((line) => FENCE.test(line))) return false;
  const indented = written.filter((line) => /^(\s{2,}|\t)/.test(line) && !ITEM.test(line));
  return indented.length * 2 >= written.length;
}

function read(lines, inFence) {
  const found = [];
  let at = 0;
  if (inFence) {
    const end = lines.findIndex((line) => FENCE.test(line));
    found.push({ kind: "code", lines: lines.slice(0, end), info: "" });
    at = end + 1;
  }
  while (at < lines.length) {
    const [block, next] = readBlock(lines, at);
    if (block) found.push(block);
    at = next;
  }
  return found;
}

function readBlock(lines, at) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (!line.trim()) return [null, at + 1];
  if (fence) return readFence(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return [{ kind: "heading", level: heading[1].length, text: heading[2] }, at + 1];
  if (ROW.test(line)) return readWhile(lines, at, (one) => ROW.test(one), table);
  if (ITEM.test(line)) return readWhile(lines, at, (one) => ITEM.test(one) || /^\s+\S/.test(one), list);
  const prose = (one) => one.trim() && !FENCE.test(one) && !HEADING.test(one) && !ROW.test(one) && !ITEM.test(one);
  return readWhile(lines, at, prose, (read) => ({ kind: "prose", text: read.join("\n") }));
}

function readWhile(lines, at, belongs, make) {
  let end = at + 1;
  while (end < lines.length && belongs(lines[end])) end += 1;
  return [make(lines.slice(at, end)), end];
}

function readFence(lines, at, [, marker, info]) {
  const closes = (line) => {
    const fence = FENCE.exec(line);
    return fence && fence[1][0] === marker[0] && fence[1].length >= marker.length && !fence[2].trim();
  };
  let end = at + 1;
  while (end < lines.length && !closes(lines[end])) end += 1;
  return [{ kind: "code", lines: lines.slice(at + 1, end), info: info.trim() }, end + 1];
}

function table(lines) {
  const rows = lines.map(cells);
  const ruled = lines.length > 1 && RULE.test(lines[1]) ? 1 : RULE.test(lines[0]) ? 0 : -1;
  const sides = ruled < 0 ? [] : rows[ruled].map((cell) => side(cell));
  return { kind: "table", sides, head: ruled === 1 ? rows[0] : null, body: rows.slice(ruled + 1) };
}

function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function side(rule) {
  if (!rule.endsWith(":")) return "";
  return rule.startsWith(":") ? "centre" : "right";
}

// Items with their depth: an item that is indented more than the one above it belongs to that one.
function list(lines) {
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item) {
      const number = /\d/.test(item[2]) ? Number.parseInt(item[2], 10) : null;
      items.push({ indent: item[1].length, number, text: item[3] });
    } else {
      items.at(-1).text += `\n${line.trim()}`;
    }
  }
  return { kind: "list", items };
}

const DRAW = {
  prose: ({ text }, words) => [inline("p", text, words)],
  // Below the heading of the hit, whatever its level on the page.
  heading: ({ text, level }, words) => [inline(level < 3 ? "h4" : "h5", text, words)],
  code: drawCode,
  table: drawTable,
  list: drawList,
};

function drawCode({ lines, info }, words) {
  const kept = lines.join("\n").replace(/^\n+|\s+$/g, "");
  if (!kept) return [];
  const code = document.createElement("code");
  appendMarked(code, kept, words);
  const box = document.createElement("pre");
  const language = /^[\w+#-]+/.exec(info);
  if (language) box.dataset.language = language[0];
  box.append(code);
  return [box];
}

function drawTable({ sides, head, body }, words) {
  const drawn = document.createElement("table");
  const row = (texts, name) => {
    const line = document.createElement("tr");
    texts.forEach((text, column) => {
      const cell = inline(name, text, words);
      if (sides[column]) cell.className = sides[column];
      if (name === "th") cell.scope = "col";
      line.append(cell);
    });
    return line;
  };
  if (head) drawn.createTHead().append(row(head, "th"));
  drawn.createTBody().append(...body.map((texts) => row(texts, "td")));
  const box = document.createElement("div");
  box.className = "scroll";
  box.append(drawn);
  return [box];
}

function drawList({ items }, words) {
  const roots = [];
  const open = [];
  for (const { indent, number, text } of items) {
    while (open.length && indent < open.at(-1).indent) open.pop();
    let level = open.at(-1);
    if (!level || indent > level.indent + 1 || (level.number === null) !== (number === null)) {
      const under = level && indent > level.indent + 1 ? level.element.lastElementChild : null;
      if (level && !under) open.pop();
      level = { indent, number, element: document.createElement(number === null ? "ul" : "ol") };
      if (number !== null && number !== 1) level.element.start = number;
      const home = under ?? open.at(-1)?.element.lastElementChild;
      if (home) home.append(level.element);
      else roots.push(level.element);
      open.push(level);
    }
    level.element.append(inline("li", text, words));
  }
  return roots;
}

/** An element that holds text, with `code` in it and the words marked. */
function inline(name, text, words) {
  const element = document.createElement(name);
  let from = 0;
  for (const match of text.matchAll(INLINE_CODE)) {
    appendMarked(element, text.slice(from, match.index), words);
    const code = document.createElement("code");
    appendMarked(code, match[2].replace(/^ (.*\S.*) $/s, "$1"), words);
    element.append(code);
    from = match.index + match[0].length;
  }
  appendMarked(element, text.slice(from), words);
  return element;
}
