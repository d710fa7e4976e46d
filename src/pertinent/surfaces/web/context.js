// The context of a hit: its neighbours on the page, fetched on demand.

import { fetchNeighbours } from "./api.js";
import { announce, create } from "./dom.js";
import { render } from "./markdown.js";
import { expandPassage } from "./passage.js";

const SIDES = {
  before: { label: "Before the passage:", more: "Further up", end: "The page begins here." },
  after: { label: "After the passage:", more: "Further down", end: "The page ends here." },
};
/** The API's limit for `around`. */
const MAX_NEIGHBOURS = 99;

/** Show the neighbours of a hit, or hide them. */
export async function toggleContext(hit) {
  const isOpen = hit.classList.contains("opened");
  const isLoaded = hit.querySelector(".context").hasChildNodes();
  if (!isOpen && !isLoaded && !(await loadContext(hit, Object.keys(SIDES), 1))) return;
  keepPosition(hit, () => {
    if (!isOpen) expandPassage(hit); // the neighbours begin where the whole passage ends
    for (const box of hit.querySelectorAll(".context")) box.hidden = isOpen;
    hit.classList.toggle("opened", !isOpen);
    getContextButton(hit).setAttribute("aria-expanded", String(!isOpen));
  });
  if (!isOpen) announce("The context is shown.");
}

/** Load and draw `count` neighbours on the given sides. On failure, show a note and return false. */
async function loadContext(hit, sides, count) {
  const { chunk, section } = hit.dataset;
  const button = getContextButton(hit);
  button.parentElement.querySelector(".tool-note")?.remove();
  try {
    // One more than is shown, to learn whether the page continues.
    const chunks = await fetchNeighbours(chunk, Math.min(count + 1, MAX_NEIGHBOURS));
    const position = chunks.findIndex((neighbour) => neighbour.chunk_id === chunk);
    const neighbours = { before: chunks.slice(0, position), after: chunks.slice(position + 1) };
    keepPosition(hit, () => {
      for (const side of sides) drawSide(hit, side, neighbours[side], count, section);
    });
    return true;
  } catch {
    button.after(create("span", { class: "tool-note", role: "alert" }, "The context could not be loaded."));
    return false;
  }
}

function drawSide(hit, side, neighbours, count, section) {
  const { label, more, end } = SIDES[side];
  const visible = side === "before" ? neighbours.slice(-count) : neighbours.slice(0, count);
  const edge = neighbours.length > count
    ? create("button", { type: "button", class: "further", on: { click: () => extend(hit, side, count + 2) } }, more)
    : create("p", { class: "edge" }, end);
  const nodes = [
    create("p", { class: "visually-hidden" }, label),
    ...drawChunks(visible, side === "after" ? section : null),
  ];
  nodes.splice(side === "before" ? 0 : nodes.length, 0, edge);
  hit.querySelector(`.${side}`).replaceChildren(...nodes);
}

function drawChunks(chunks, section) {
  const nodes = [];
  let lastSection = section;
  for (const chunk of chunks) {
    if (chunk.section && chunk.section !== lastSection) {
      nodes.push(create("p", { class: "section-name" }, chunk.section));
    }
    lastSection = chunk.section;
    nodes.push(create("div", { class: "neighbour" }, render(chunk.content)));
  }
  return nodes;
}

async function extend(hit, side, count) {
  if (!(await loadContext(hit, [side], count))) return;
  (hit.querySelector(`.${side} .further`) ?? getContextButton(hit)).focus({ preventScroll: true });
  announce("More of the page is shown.");
}

function getContextButton(hit) {
  return hit.querySelector("[data-act=context]");
}

/** Make a change without moving the passage on the screen, even if text appears above it. */
function keepPosition(hit, change) {
  const passage = hit.querySelector(".passage");
  const top = passage.getBoundingClientRect().top;
  change();
  scrollBy({ top: passage.getBoundingClientRect().top - top, behavior: "instant" });
}
