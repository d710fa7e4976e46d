// Every key that the page knows; see the help in index.html.

import { focusHit, hitsOf } from "./results.js";

/** Listen to the keyboard for the search box, the hits and the help. */
export function wireKeys({ box, found, help, onClear }) {
  document.getElementById("help-open").addEventListener("click", () => help.showModal());
  document.getElementById("help-close").addEventListener("click", () => help.close());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
    const act = event.target === box ? inBox(event, box, found, onClear) : elsewhere(event, box, found, help);
    if (act) {
      event.preventDefault();
      act();
    }
  });
}

function inBox(event, box, found, onClear) {
  const [first] = hitsOf(found);
  if (event.key === "Escape") return onClear;
  if (event.key === "ArrowDown" && first) return () => focusHit(first);
  return null;
}

function elsewhere(event, box, found, help) {
  const toBox = () => {
    box.focus();
    box.select();
    scrollTo({ top: 0 });
  };
  if (event.key === "Escape") return toBox;
  if (event.target.matches("input, select, textarea")) return null;
  if (event.key === "/") return toBox;
  if (event.key === "?") return () => help.showModal();
  const hit = event.target.closest(".hit");
  return hit && inHit(event, hit, hitsOf(found), toBox);
}

function inHit(event, hit, hits, toBox) {
  const at = hits.indexOf(hit);
  const press = (name) => () => hit.querySelector(`[data-act=${name}]`).click();
  switch (event.key) {
    case "ArrowDown": return () => focusHit(hits[Math.min(at + 1, hits.length - 1)]);
    case "ArrowUp": return at ? () => focusHit(hits[at - 1]) : toBox;
    case "c": return press("copy");
    case "x": return press("context");
    default: return null;
  }
}
