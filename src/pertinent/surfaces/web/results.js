// The hits of an answer, grouped by page; pages are ordered by their best hit.

import { copyText, formatMarkdownCitation, getAddress, getLink } from "./citation.js";
import { toggleContext } from "./context.js";
import { announce, create } from "./dom.js";
import { appendHighlighted } from "./highlight.js";
import { drawPassage, drawPassageButton, makeScrollable } from "./passage.js";
import { drawScore } from "./score.js";

/** How many hits of a page are shown before "more from this page". */
const VISIBLE_HITS = 3;
const FEEDBACK_MS = 2000;
/** What the service puts between the headings of a section. */
const SEPARATOR = " › ";

/** Draw the results, one section for each page. */
export function drawGroups(results, words) {
  return groupByPage(results).map((hits, number) => drawGroup(hits, words, number));
}

/** Group results by page, the page with the best hit first. */
export function groupByPage(results) {
  const pages = new Map();
  for (const result of results) {
    const page = result.metadata.document_id || result.metadata.url;
    pages.set(page, [...(pages.get(page) ?? []), result]);
  }
  return [...pages.values()];
}

function drawGroup(hits, words, number) {
  const { document_title: title, url } = hits[0].metadata;
  const heading = create("h2", { id: `page-${number}` });
  appendHighlighted(heading, title || url, words);
  const list = create("div", { class: "page-hits" }, ...hits.slice(0, VISIBLE_HITS).map((hit) => drawHit(hit, words)));
  const hiddenHits = hits.slice(VISIBLE_HITS);
  return create("section", { class: "page", "aria-labelledby": heading.id },
    create("header", { class: "page-head" }, heading,
      create("p", { class: "location", title: url }, shortenUrl(url))),
    list,
    hiddenHits.length ? drawMoreButton(hiddenHits, list, words) : null);
}

function drawMoreButton(hits, list, words) {
  const showHits = () => {
    const elements = hits.map((hit) => drawHit(hit, words));
    list.append(...elements);
    button.remove();
    makeScrollable(list);
    focusHit(elements[0]);
  };
  const button = create("button", { type: "button", class: "more-of-page", on: { click: showHits } },
    `${hits.length} more from this page`);
  return button;
}

function drawHit(result, words) {
  const { metadata } = result;
  return create("article", { class: "hit", dataset: { chunk: result.chunk_id, section: metadata.section } },
    create("header", { class: "hit-head" }, create("h3", {}, drawLink(metadata, words)), drawScore(result)),
    create("div", { class: "before context", hidden: true }),
    drawPassage(result, words),
    create("div", { class: "after context", hidden: true }),
    drawTools(result, words));
}

function drawLink(metadata, words) {
  const href = getLink(metadata);
  const link = href
    ? create("a", { class: "passage-link", href, rel: "noopener noreferrer" })
    : create("span", { class: "passage-link", tabIndex: -1 });
  // The page title is visible above the group; a screen reader needs it in the link too.
  link.append(create("span", { class: "visually-hidden" }, `${metadata.document_title || metadata.url} › `));
  link.append(...(metadata.section ? drawHeadings(metadata.section, words) : ["Top of the page"]));
  return link;
}

/** Draw the headings above the section, which are cut if there is no room for them, and its own heading. */
function drawHeadings(section, words) {
  const heading = section.split(SEPARATOR).at(-1);
  const own = create("span", { class: "own-heading" });
  appendHighlighted(own, heading, words);
  if (heading === section) return [own];
  const above = create("span", { class: "headings-above", title: section });
  appendHighlighted(above, section.slice(0, section.length - heading.length), words);
  return [above, own];
}

function drawTools(result, words) {
  const { metadata } = result;
  const tools = create("div", { class: "tools" },
    drawPassageButton(result, words),
    create("button", { type: "button", dataset: { act: "context" }, "aria-expanded": "false",
      on: { click: (event) => toggleContext(event.target.closest(".hit")) } }, "Context"),
    drawCopyButton("link", "Copy link", "Link", getAddress(metadata)),
    drawCopyButton("copy", "Copy as Markdown citation", "Citation", formatMarkdownCitation(metadata)));
  if (!getLink(metadata) && metadata.url) tools.append(create("span", { class: "location" }, metadata.url));
  return tools;
}

function drawCopyButton(action, label, name, text) {
  if (!text) return null;
  const button = create("button", { type: "button", dataset: { act: action }, on: { click: () => copy() } }, label);
  const copy = async () => {
    if (!(await copyText(text))) {
      showTextToCopy(button, name, text);
      return;
    }
    button.textContent = "Copied";
    button.classList.add("done");
    announce(`Copied: ${text}`);
    setTimeout(() => {
      button.textContent = label;
      button.classList.remove("done");
    }, FEEDBACK_MS);
  };
  return button;
}

/** Show the text in a field where it is selected, for a browser that refuses to copy it. */
function showTextToCopy(button, name, text) {
  const label = `${name}, to copy by hand`;
  const field = create("input", { class: "to-copy", readOnly: true, value: text, "aria-label": label });
  button.parentElement.querySelector(".to-copy")?.remove();
  button.after(field);
  field.focus();
  field.select();
}

/** Return the elements of all visible hits, in order. */
export function getHits(element) {
  return [...element.querySelectorAll(".hit")];
}

/** Focus a hit, so that its shortcuts work, and scroll it into view. */
export function focusHit(hit) {
  hit.querySelector(".passage-link").focus({ preventScroll: true });
  hit.scrollIntoView({ block: hit.offsetHeight > innerHeight * 0.7 ? "start" : "nearest" });
}

/** Return a URL without its protocol and last slash. */
export function shortenUrl(url) {
  return url.replace(/^https?:\/\//, "").replace(/\/$/, "");
}
