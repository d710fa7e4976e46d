// The passage of a hit: its best lines at first, all of it on demand.

import { create } from "./dom.js";
import { render } from "./markdown.js";

const LABELS = { true: "Show less", false: "Show all" };

/** How many hits fit on the screen, on wide and on narrow ones, with the height of what is not their passage. */
const LAYOUTS = {
  wide: { media: "(min-width: 60rem)", hits: 5, frame: 50, lineWidth: 80 },
  tablet: { media: "(min-width: 34rem)", hits: 3, frame: 100, lineWidth: 80 },
  phone: { media: "all", hits: 3, frame: 125, lineWidth: 40 },
};
const HEADER_HEIGHT = 195;
const LINE_HEIGHT = 21;
const MIN_LINES = 3;
const MAX_LINES = 8;

/** How many characters a snippet has: at most eight lines, and fewer where the hits would not fit on the screen. */
export function getSnippetLength() {
  const { hits, frame, lineWidth } = Object.values(LAYOUTS).find(({ media }) => matchMedia(media).matches);
  const lines = Math.floor(((innerHeight - HEADER_HEIGHT) / hits - frame) / LINE_HEIGHT);
  return Math.min(Math.max(lines, MIN_LINES), MAX_LINES) * lineWidth;
}

/** Return the words that the service marked in the snippets of the results. */
export function listMarkedWords(results) {
  const words = results.flatMap(({ snippet = "", highlights = [] }) => {
    // The service counts code points, JavaScript counts UTF-16 units.
    const characters = [...snippet];
    return highlights.map(([start, end]) => characters.slice(start, end).join("").toLowerCase());
  });
  return [...new Set(words)];
}

/** Draw the best lines of the passage. */
export function drawPassage({ content, snippet = content }, words) {
  return create("div", { class: "passage" }, render(snippet, words));
}

/** Draw the button that shows the whole passage; null if nothing is left out. */
export function drawPassageButton({ content, snippet = content }, words) {
  if (snippet === content) return null;
  const toggle = () => {
    const isExpanded = button.getAttribute("aria-expanded") !== "true";
    const passage = button.closest(".hit").querySelector(".passage");
    passage.replaceChildren(render(isExpanded ? content : snippet, words));
    makeScrollable(passage);
    button.setAttribute("aria-expanded", String(isExpanded));
    button.textContent = LABELS[isExpanded];
  };
  const button = create("button", { type: "button", dataset: { act: "expand" }, "aria-expanded": "false",
    on: { click: toggle } }, LABELS[false]);
  return button;
}

/** Show the whole passage of a hit. */
export function expandPassage(hit) {
  hit.querySelector("[data-act=expand][aria-expanded=false]")?.click();
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
