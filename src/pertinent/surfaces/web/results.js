// The hits of an answer, grouped by page; pages are ordered by their best hit.

import { copyText, formatCitation, getLink } from "./citation.js";
import { toggleContext } from "./context.js";
import { announce, create } from "./dom.js";
import { appendHighlighted } from "./highlight.js";
import { render } from "./markdown.js";
import { drawScore } from "./score.js";

/** How many hits of a page are shown before "more from this page". */
const VISIBLE_HITS = 3;
const FEEDBACK_MS = 2000;

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
  const section = create("section", { class: "page", "aria-labelledby": heading.id },
    create("header", { class: "page-head" }, heading, create("p", { class: "location" }, shortenUrl(url))),
    ...hits.slice(0, VISIBLE_HITS).map((hit) => drawHit(hit, words)));
  if (hits.length > VISIBLE_HITS) section.append(drawMoreButton(hits.slice(VISIBLE_HITS), words));
  return section;
}

function drawMoreButton(hits, words) {
  const showHits = () => {
    const elements = hits.map((hit) => drawHit(hit, words));
    button.replaceWith(...elements);
    makeScrollable(elements[0].parentElement);
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
    create("div", { class: "passage" }, render(result.content, words)),
    create("div", { class: "after context", hidden: true }),
    drawTools(metadata));
}

function drawLink(metadata, words) {
  const href = getLink(metadata);
  const link = href
    ? create("a", { class: "passage-link", href, rel: "noopener noreferrer" })
    : create("span", { class: "passage-link", tabIndex: -1 });
  // The page title is visible above the group; a screen reader needs it in the link too.
  link.append(create("span", { class: "visually-hidden" }, `${metadata.document_title || metadata.url} › `));
  appendHighlighted(link, metadata.section || "Top of the page", words);
  return link;
}

function drawTools(metadata) {
  const tools = create("div", { class: "tools" },
    create("button", { type: "button", dataset: { act: "context" }, "aria-expanded": "false",
      on: { click: (event) => toggleContext(event.target.closest(".hit")) } }, "Context"),
    create("button", { type: "button", dataset: { act: "copy" },
      on: { click: (event) => copyCitation(event.target, formatCitation(metadata)) } }, "Copy citation"));
  if (!getLink(metadata) && metadata.url) tools.append(create("span", { class: "location" }, metadata.url));
  return tools;
}

async function copyCitation(button, citation) {
  if (await copyText(citation)) {
    button.textContent = "Copied";
    button.classList.add("done");
    announce(`Copied: ${citation}`);
    setTimeout(() => {
      button.textContent = "Copy citation";
      button.classList.remove("done");
    }, FEEDBACK_MS);
    return;
  }
  const label = "Citation, to copy by hand";
  const field = create("input", { class: "to-copy", readOnly: true, value: citation, "aria-label": label });
  button.parentElement.querySelector(".to-copy")?.remove();
  button.after(field);
  field.focus();
  field.select();
}

/** Let the keyboard scroll code and tables that are wider than their box, and label them. */
export function makeScrollable(element) {
  for (const box of element.querySelectorAll("pre, .scroll")) {
    if (box.scrollWidth <= box.clientWidth) continue;
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", box.matches("pre") ? "Code, scrolls sideways" : "Table, scrolls sideways");
  }
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

function shortenUrl(url) {
  return url.replace(/^https?:\/\//, "").replace(/\/$/, "");
}
