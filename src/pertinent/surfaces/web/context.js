// A passage in its context: what stands before and after it on its page, fetched when it is asked for.

import { chunksAround } from "./api.js";
import { make, say } from "./dom.js";
import { render } from "./markdown.js";

const SIDES = {
  before: { label: "Before the passage:", further: "Further up", edge: "The page begins here." },
  after: { label: "After the passage:", further: "Further down", edge: "The page ends here." },
};
const MOST = 99;

/** Show a hit's neighbours, or hide them again. */
export async function toggleContext(hit) {
  const open = hit.classList.contains("opened");
  if (!open && !hit.querySelector(".context").hasChildNodes() && !(await load(hit, Object.keys(SIDES), 1))) return;
  inPlace(hit, () => {
    for (const box of hit.querySelectorAll(".context")) box.hidden = open;
    hit.classList.toggle("opened", !open);
    contextButton(hit).setAttribute("aria-expanded", String(!open));
  });
  if (!open) say("The context is shown.");
}

/** Draw so many neighbours on these sides; false, and a note beside the button, where they can't be had. */
async function load(hit, sides, count) {
  const { chunk, section } = hit.dataset;
  const button = contextButton(hit);
  button.parentElement.querySelector(".tool-note")?.remove();
  try {
    // One more than is shown tells whether the page goes on.
    const chunks = await chunksAround(chunk, Math.min(count + 1, MOST));
    const at = chunks.findIndex((one) => one.chunk_id === chunk);
    const beside = { before: chunks.slice(0, at), after: chunks.slice(at + 1) };
    inPlace(hit, () => {
      for (const side of sides) draw(hit, side, beside[side], count, section);
    });
    return true;
  } catch {
    button.after(make("span", { class: "tool-note", role: "alert" }, "The context could not be loaded."));
    return false;
  }
}

function draw(hit, side, all, count, section) {
  const { label, further, edge } = SIDES[side];
  const shown = side === "before" ? all.slice(-count) : all.slice(0, count);
  const outer = all.length > count
    ? make("button", { type: "button", class: "further", on: { click: () => reach(hit, side, count + 2) } }, further)
    : make("p", { class: "edge" }, edge);
  const nodes = [make("p", { class: "unseen" }, label), ...drawChunks(shown, side === "after" ? section : null)];
  nodes.splice(side === "before" ? 0 : nodes.length, 0, outer);
  hit.querySelector(`.${side}`).replaceChildren(...nodes);
}

function drawChunks(chunks, section) {
  const nodes = [];
  let last = section;
  for (const chunk of chunks) {
    // A neighbour may stand under another heading.
    if (chunk.section && chunk.section !== last) nodes.push(make("p", { class: "under" }, chunk.section));
    last = chunk.section;
    nodes.push(make("div", { class: "neighbour" }, render(chunk.content)));
  }
  return nodes;
}

async function reach(hit, side, count) {
  if (!(await load(hit, [side], count))) return;
  (hit.querySelector(`.${side} .further`) ?? contextButton(hit)).focus({ preventScroll: true });
  say("More of the page is shown.");
}

function contextButton(hit) {
  return hit.querySelector("[data-act=context]");
}

// The passage stays where the reader's eye is, though text appears above it.
function inPlace(hit, change) {
  const passage = hit.querySelector(".passage");
  const top = passage.getBoundingClientRect().top;
  change();
  scrollBy({ top: passage.getBoundingClientRect().top - top, behavior: "instant" });
}
