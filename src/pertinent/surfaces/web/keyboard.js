// Keyboard shortcuts of the search page; the help in index.html lists them.

import { focusHit, getHits } from "./results.js";

/** Listen to the shortcuts of the search box, the hits and the help. */
export function listenToKeyboard({ searchBox, suggestions, results, help, onClear }) {
  document.getElementById("help-open").addEventListener("click", () => help.showModal());
  document.getElementById("help-close").addEventListener("click", () => help.close());
  const focusSearchBox = () => {
    searchBox.focus();
    searchBox.select();
    scrollTo({ top: 0 });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
    const action = event.target === searchBox
      ? suggestions.findAction(event.key) ?? findBoxAction(event, results, onClear)
      : findPageAction(event, results, help, focusSearchBox);
    if (action) {
      event.preventDefault();
      action();
    }
  });
}

function findBoxAction(event, results, onClear) {
  const [firstHit] = getHits(results);
  if (event.key === "Escape") return onClear;
  if (event.key === "ArrowDown" && firstHit) return () => focusHit(firstHit);
  return null;
}

function findPageAction(event, results, help, focusSearchBox) {
  if (event.key === "Escape") return focusSearchBox;
  if (event.target.matches("input, select, textarea")) return null;
  if (event.key === "/") return focusSearchBox;
  if (event.key === "?") return () => help.showModal();
  const hit = event.target.closest(".hit");
  return hit && findHitAction(event, hit, getHits(results), focusSearchBox);
}

function findHitAction(event, hit, hits, focusSearchBox) {
  const position = hits.indexOf(hit);
  const click = (name) => () => hit.querySelector(`[data-act=${name}]`)?.click();
  switch (event.key) {
    case "ArrowDown": return () => focusHit(hits[Math.min(position + 1, hits.length - 1)]);
    case "ArrowUp": return position ? () => focusHit(hits[position - 1]) : focusSearchBox;
    case "a": return click("expand");
    case "c": return click("copy");
    case "l": return click("link");
    case "x": return click("context");
    default: return null;
  }
}
