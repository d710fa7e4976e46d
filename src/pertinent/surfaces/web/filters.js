// The controls that narrow a search: the part of the book, the ranking and the minimum score.

import { create } from "./dom.js";

const MAX_CHIPS = 8;

/** The default minimum score for each ranking: below it, nonsense queries begin to find passages. */
const DEFAULT_MIN_SCORE = { hybrid: 0.2, dense: 0.3, lexical: 0.1 };

/** A query of so few words has no default minimum: a name, or a question that the reader has only begun. */
const SHORT_QUERY_WORDS = 2;

/** Return the minimum score of a search. */
export function getMinScore({ query, ranking, minScore }) {
  const isShort = query.trim().split(/\s+/).length <= SHORT_QUERY_WORDS;
  return minScore ?? (isShort ? 0 : DEFAULT_MIN_SCORE[ranking]);
}

/** Draw the parts of the book as chips, or as a menu if there are many. */
export function drawParts(element, parts, onChange) {
  if (!parts.length) return;
  const options = [{ key: "", name: "Whole book" }, ...parts];
  element.replaceChildren(parts.length > MAX_CHIPS ? drawMenu(options, onChange) : drawChips(options, onChange));
}

function drawChips(parts, onChange) {
  const drawChip = ({ key, name }) => create("label", { class: "chip" },
    create("input", { type: "radio", name: "part", value: key, checked: !key, on: { change: () => onChange(key) } }),
    create("span", {}, name));
  const legend = create("legend", { class: "visually-hidden" }, "Part of the book");
  return create("fieldset", { class: "chips" }, legend, ...parts.map(drawChip));
}

function drawMenu(parts, onChange) {
  const options = parts.map(({ key, name }) => create("option", { value: key }, name));
  const menu = create("select", { name: "part", on: { change: () => onChange(menu.value) } }, ...options);
  return create("label", { class: "menu" }, create("span", {}, "Part "), menu);
}

/** Show which part is selected. */
export function showPart(element, key) {
  const menu = element.querySelector("select");
  if (menu) menu.value = key;
  for (const radio of element.querySelectorAll("input")) radio.checked = radio.value === key;
}

/** Listen to the controls behind "Options". `onChange(change, isFinal)`: a slider being dragged is not final. */
export function listenToOptions(onChange) {
  const slider = document.getElementById("min-score");
  const toggle = document.getElementById("options-open");
  toggle.addEventListener("click", () => {
    const panel = document.getElementById("options");
    panel.hidden = !panel.hidden;
    toggle.setAttribute("aria-expanded", String(!panel.hidden));
  });
  document.getElementById("ranking").addEventListener("change", (event) => {
    onChange({ ranking: event.target.value }, true);
  });
  slider.addEventListener("input", () => onChange({ minScore: Number(slider.value) }, false));
  slider.addEventListener("change", () => onChange({ minScore: Number(slider.value) }, true));
  document.getElementById("min-score-reset").addEventListener("click", () => onChange({ minScore: null }, true));
}

/** Show the ranking and the minimum score of a search. */
export function showOptions(search) {
  const { ranking, minScore } = search;
  for (const radio of document.querySelectorAll("#ranking input")) radio.checked = radio.value === ranking;
  const value = getMinScore(search);
  document.getElementById("min-score").value = String(value);
  document.getElementById("min-score-value").textContent = value.toFixed(2);
  document.getElementById("min-score-reset").hidden = minScore === null;
  document.getElementById("options-changed").hidden = minScore === null && ranking === "hybrid";
}
