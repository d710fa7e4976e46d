// The hits of an answer: those of one page together, the pages in the order of their best hit.

import { citationOf, copy, linkOf } from "./citation.js";
import { toggleContext } from "./context.js";
import { make, say } from "./dom.js";
import { appendMarked } from "./marking.js";
import { render } from "./markdown.js";
import { drawScore } from "./score.js";

const AT_ONCE = 3;
const FEEDBACK_MS = 2000;

/** The results as one section a page. */
export function drawGroups(results, words) {
  return grouped(results).map((hits, number) => drawGroup(hits, words, number));
}

/** Which hits belong to one page, best page first. */
export function grouped(results) {
  const pages = new Map();
  for (const result of results) {
    const page = result.metadata.document_id || result.metadata.url;
    pages.set(page, [...(pages.get(page) ?? []), result]);
  }
  return [...pages.values()];
}

function drawGroup(hits, words, number) {
  const { document_title: title, url } = hits[0].metadata;
  const heading = make("h2", { id: `page-${number}` });
  appendMarked(heading, title || url, words);
  const section = make("section", { class: "page", "aria-labelledby": heading.id },
    make("header", { class: "page-head" }, heading, make("p", { class: "where" }, shortened(url))),
    ...hits.slice(0, AT_ONCE).map((hit) => drawHit(hit, words)));
  if (hits.length > AT_ONCE) section.append(moreOf(hits.slice(AT_ONCE), words));
  return section;
}

function moreOf(hits, words) {
  const open = () => {
    const drawn = hits.map((hit) => drawHit(hit, words));
    button.replaceWith(...drawn);
    tame(drawn[0].parentElement);
    focusHit(drawn[0]);
  };
  const text = hits.length === 1 ? "1 more from this page" : `${hits.length} more from this page`;
  const button = make("button", { type: "button", class: "more-of-page", on: { click: open } }, text);
  return button;
}

function drawHit(result, words) {
  const { metadata } = result;
  const heading = make("h3", {}, drawPlace(metadata, words));
  return make("article", { class: "hit", dataset: { chunk: result.chunk_id, section: metadata.section } },
    make("header", { class: "hit-head" }, heading, drawScore(result)),
    make("div", { class: "before context", hidden: true }),
    make("div", { class: "passage" }, render(result.content, words)),
    make("div", { class: "after context", hidden: true }),
    drawTools(metadata));
}

function drawPlace(metadata, words) {
  const link = linkOf(metadata);
  const place = link
    ? make("a", { class: "place", href: link, rel: "noopener noreferrer" })
    : make("span", { class: "place", tabIndex: -1 });
  // The title stands above the group; heard alone, the link needs it.
  place.append(make("span", { class: "unseen" }, `${metadata.document_title || metadata.url} › `));
  appendMarked(place, metadata.section || "Top of the page", words);
  return place;
}

function drawTools(metadata) {
  const tools = make("div", { class: "tools" },
    make("button", { type: "button", dataset: { act: "context" }, "aria-expanded": "false",
      on: { click: (event) => toggleContext(event.target.closest(".hit")) } }, "Context"),
    make("button", { type: "button", dataset: { act: "copy" },
      on: { click: (event) => copyCitation(event.target, citationOf(metadata)) } }, "Copy citation"));
  if (!linkOf(metadata) && metadata.url) tools.append(make("span", { class: "where" }, metadata.url));
  return tools;
}

async function copyCitation(button, citation) {
  if (await copy(citation)) {
    button.textContent = "Copied";
    button.classList.add("done");
    say(`Copied: ${citation}`);
    setTimeout(() => {
      button.textContent = "Copy citation";
      button.classList.remove("done");
    }, FEEDBACK_MS);
    return;
  }
  const label = "Citation, to copy by hand";
  const field = make("input", { class: "to-copy", readOnly: true, value: citation, "aria-label": label });
  button.parentElement.querySelector(".to-copy")?.remove();
  button.after(field);
  field.focus();
  field.select();
}

/** Make what is wider than its place scroll for those who have no mouse, and say what it is. */
export function tame(element) {
  for (const box of element.querySelectorAll("pre, .scroll")) {
    if (box.scrollWidth <= box.clientWidth) continue;
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", box.matches("pre") ? "Code, scrolls sideways" : "Table, scrolls sideways");
  }
}

/** The hits that are on the page now, in order. */
export function hitsOf(element) {
  return [...element.querySelectorAll(".hit")];
}

/** Bring a hit to the reader, ready for its keys. */
export function focusHit(hit) {
  hit.querySelector(".place").focus({ preventScroll: true });
  hit.scrollIntoView({ block: hit.offsetHeight > innerHeight * 0.7 ? "start" : "nearest" });
}

function shortened(url) {
  return url.replace(/^https?:\/\//, "").replace(/\/$/, "");
}
