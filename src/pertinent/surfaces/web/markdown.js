// Rendering of a passage's Markdown: paragraphs, headings, code, tables, lists and bold text. Everything else, HTML
// and links included, stays plain text, so that no passage can inject an element or a script. A passage is a slice
// of a page: it may begin or end inside a code block or a table.

import { drawTokens } from "./code.js";
import { create } from "./dom.js";
import { appendHighlighted } from "./highlight.js";

// A passage of another pipeline may have megabytes on a line. So two repetitions never follow each other that match the
// same characters: the browser would try every way to divide these between them.
const FENCE = /^ {0,3}(`{3,}|~{3,}(?!~))([^`]*)$/;
const HEADING = /^(#{1,6})\s+(\S.*)$/s;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/s;
const ROW = /^\s*\|.*\|\s*$/s;
const RULE_CELL = /^:?-+:?$/;
const BOLD = /\*\*(?=\S)([^*]+?)(?<=\S)\*\*/g;
/** The longest passage whose code is coloured; highlight.js needs minutes for a few hundred thousand characters. */
const MAX_COLOURED = 5000;
/** What a snippet shows where lines are left out. */
const ELLIPSIS = "…";

/** Render the passage as a document fragment, with matches of the pattern highlighted. */
export function render(text, words = null) {
  const fragment = document.createDocumentFragment();
  const isColoured = text.length <= MAX_COLOURED;
  for (const block of parseBlocks(text)) fragment.append(...DRAW[block.kind](block, words, isColoured));
  return fragment;
}

/** Parse the passage into blocks: `{kind, …}` in order. */
export function parseBlocks(text) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  if (isCutCode(lines)) return [{ kind: "code", lines, info: "" }];
  return readBlocks(lines, startsInFence(lines));
}

// A closing fence has no language. So a first fence without one closes a block that began before the passage
// if the next fence has a language, or if it would otherwise stay open to the end.
function startsInFence(lines) {
  const fences = lines.map((line) => FENCE.exec(line)).filter(Boolean);
  if (!fences.length || fences[0][2].trim()) return false;
  return fences.length % 2 === 1 || fences[1][2].trim() !== "";
}

// A passage from the middle of a long code block has no fence; it is recognised by its indentation.
function isCutCode(lines) {
  const nonEmpty = lines.filter((line) => line.trim());
  if (nonEmpty.length < 2 || lines.some((line) => FENCE.test(line))) return false;
  const indented = nonEmpty.filter((line) => /^(\s{2,}|\t)/.test(line) && !ITEM.test(line));
  return indented.length * 2 >= nonEmpty.length;
}

function readBlocks(lines, inFence) {
  const blocks = [];
  let position = 0;
  if (inFence) {
    const end = lines.findIndex((line) => FENCE.test(line));
    blocks.push({ kind: "code", lines: lines.slice(0, end), info: "" });
    position = end + 1;
  }
  while (position < lines.length) {
    const [block, next] = readBlock(lines, position);
    if (block) blocks.push(block);
    position = next;
  }
  return blocks;
}

/** Return the block that starts at a line, and the number of the line after it. */
function readBlock(lines, start) {
  const line = lines[start];
  const fence = FENCE.exec(line);
  if (!line.trim()) return [null, start + 1];
  if (fence) return readFence(lines, start, fence);
  const heading = HEADING.exec(line);
  if (heading) return [{ kind: "heading", level: heading[1].length, text: trimHeading(heading[2]) }, start + 1];
  if (ROW.test(line)) return readWhile(lines, start, (next) => ROW.test(next), parseTable);
  if (ITEM.test(line)) return readWhile(lines, start, (next) => ITEM.test(next) || /^\s+\S/.test(next), parseList);
  const isProse = (next) => next.trim() && ![FENCE, HEADING, ROW, ITEM].some((pattern) => pattern.test(next));
  return readWhile(lines, start, isProse, (prose) => ({ kind: "prose", text: prose.join("\n") }));
}

/** Remove the marks that may close a heading, as in `## Joints ##`. */
function trimHeading(text) {
  const trimmed = text.trimEnd();
  let end = trimmed.length;
  while (trimmed[end - 1] === "#") end -= 1;
  return trimmed.slice(0, end).trimEnd() || trimmed;
}

function readWhile(lines, start, belongs, parse) {
  let end = start + 1;
  while (end < lines.length && belongs(lines[end])) end += 1;
  return [parse(lines.slice(start, end)), end];
}

function readFence(lines, start, [, marker, info]) {
  const closes = (line) => {
    const fence = FENCE.exec(line);
    return fence && fence[1][0] === marker[0] && fence[1].length >= marker.length && !fence[2].trim();
  };
  let end = start + 1;
  while (end < lines.length && !closes(lines[end])) end += 1;
  return [{ kind: "code", lines: lines.slice(start + 1, end), info: info.trim() }, end + 1];
}

function parseTable(lines) {
  const rows = lines.map(splitCells);
  const ruleRow = [1, 0].find((number) => rows[number]?.every((cell) => RULE_CELL.test(cell))) ?? -1;
  const alignments = ruleRow < 0 ? [] : rows[ruleRow].map((cell) => readAlignment(cell));
  return { kind: "table", alignments, head: ruleRow === 1 ? rows[0] : null, body: rows.slice(ruleRow + 1) };
}

function splitCells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function readAlignment(rule) {
  if (!rule.endsWith(":")) return "";
  return rule.startsWith(":") ? "centre" : "right";
}

// An item that is indented further than the one above it is nested below that one.
function parseList(lines) {
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
  prose: ({ text }, words) => [text === ELLIPSIS ? drawCut("p") : drawInline("p", text, words)],
  // One level below the heading of the hit, whatever its level on the page.
  heading: ({ text, level }, words) => [drawInline(level < 3 ? "h4" : "h5", text, words)],
  code: drawCode,
  table: drawTable,
  list: drawList,
};

function drawCode({ lines, info }, words, isColoured) {
  const isCutAbove = lines[0] === ELLIPSIS;
  const isCutBelow = lines.length > 1 && lines.at(-1) === ELLIPSIS;
  const visible = lines.slice(isCutAbove ? 1 : 0, isCutBelow ? -1 : undefined);
  const text = visible.join("\n").replace(/^\n+/, "").trimEnd();
  if (!text) return [];
  const language = /^[\w+#-]+/.exec(info)?.[0];
  const code = create("code");
  drawTokens(code, text, isColoured ? language : "", words);
  return [create("pre", { dataset: language && { language } },
    isCutAbove ? drawCut("span") : null, code, isCutBelow ? drawCut("span") : null)];
}

function drawTable({ alignments, head, body }, words) {
  const drawRow = (texts, tag) => create("tr", {}, ...texts.map((text, column) => {
    const cell = drawInline(tag, text, words);
    if (alignments[column]) cell.className = alignments[column];
    if (tag === "th") cell.scope = "col";
    return cell;
  }));
  return [create("div", { class: "scroll" }, create("table", {},
    head && create("thead", {}, drawRow(head, "th")),
    create("tbody", {}, ...body.map((texts) => drawRow(texts, "td")))))];
}

function drawList({ items }, words) {
  const roots = [];
  /** The lists that are open, the innermost last. */
  const open = [];
  for (const { indent, number, text } of items) {
    while (open.length && indent < open.at(-1).indent) open.pop();
    let level = open.at(-1);
    if (!level || indent > level.indent + 1 || (level.number === null) !== (number === null)) {
      const parentItem = level && indent > level.indent + 1 ? level.element.lastElementChild : null;
      if (level && !parentItem) open.pop();
      level = { indent, number, element: create(number === null ? "ul" : "ol") };
      if (number !== null && number !== 1) level.element.start = number;
      const container = parentItem ?? open.at(-1)?.element.lastElementChild;
      if (container) container.append(level.element);
      else roots.push(level.element);
      open.push(level);
    }
    level.element.append(drawInline("li", text, words));
  }
  return roots;
}

/** Draw where lines are left out, lower than a line of text. */
function drawCut(tag) {
  return create(tag, { class: "cut" }, ELLIPSIS);
}

/** Draw an element with text, inline `code`, **bold** text and highlighted words. */
function drawInline(tag, text, words) {
  const element = create(tag);
  const draw = (name) => (content) => {
    const part = create(name);
    appendHighlighted(part, content, words);
    return part;
  };
  appendParts(element, text, findInlineCode(text), draw("code"),
    (between) => appendParts(element, between, findBold(between), draw("strong"),
      (plain) => appendHighlighted(element, plain, words)));
  return element;
}

/** Append what is drawn for each part `{start, end, content}` of a text, and what is appended for the text between. */
function appendParts(element, text, parts, draw, appendBetween) {
  let position = 0;
  for (const { start, end, content } of parts) {
    appendBetween(text.slice(position, start));
    element.append(draw(content));
    position = end;
  }
  appendBetween(text.slice(position));
}

/** Find inline code: it begins with backquotes, and ends at the next ones that are as many. */
function findInlineCode(text) {
  const marks = Array.from(text.matchAll(/`+/g), ({ index, 0: { length } }) => ({ start: index, end: index + length, length }));
  const following = new Map();
  for (const mark of marks.toReversed()) {
    mark.closing = following.get(mark.length);
    following.set(mark.length, mark);
  }
  const parts = [];
  let position = 0;
  for (const { start, end, closing } of marks) {
    if (start < position || !closing) continue;
    position = closing.end;
    parts.push({ start, end: position, content: trimCode(text.slice(end, closing.start)) });
  }
  return parts;
}

/** Remove a space on both sides of code, which separates backquotes in it from those around it. */
function trimCode(code) {
  return code.startsWith(" ") && code.endsWith(" ") && code.trim() ? code.slice(1, -1) : code;
}

function findBold(text) {
  return Array.from(text.matchAll(BOLD), (match) =>
    ({ start: match.index, end: match.index + match[0].length, content: match[1] }));
}
