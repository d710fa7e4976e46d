// The controls that narrow a search: the part of the book, the ranking, the least score.

import { make } from "./dom.js";

const CHIPS_AT_MOST = 8;

/** The least score of a hit for each ranking: below it, answers to nonsense begin. */
const USUAL_LEAST = { hybrid: 0.2, dense: 0.3, lexical: 0.1 };

/** The least score that a hit of this search may have. */
export function leastOf({ ranking, least }) {
  return least ?? USUAL_LEAST[ranking];
}

/** The parts of the book as chips, or as a list where there are many; nothing where there are none. */
export function drawParts(element, parts, onChange) {
  if (!parts.length) return;
  const all = [{ key: "", name: "Whole book" }, ...parts];
  element.replaceChildren(parts.length > CHIPS_AT_MOST ? drawMenu(all, onChange) : drawChips(all, onChange));
}

function drawChips(parts, onChange) {
  const chip = ({ key, name }) => make("label", { class: "chip" },
    make("input", { type: "radio", name: "part", value: key, checked: !key, on: { change: () => onChange(key) } }),
    make("span", {}, name));
  const legend = make("legend", { class: "unseen" }, "Part of the book");
  return make("fieldset", { class: "chips" }, legend, ...parts.map(chip));
}

function drawMenu(parts, onChange) {
  const options = parts.map(({ key, name }) => make("option", { value: key }, name));
  const menu = make("select", { name: "part", on: { change: () => onChange(menu.value) } }, ...options);
  return make("label", { class: "menu" }, make("span", {}, "Part "), menu);
}

/** Show the part that is chosen. */
export function showPart(element, key) {
  const menu = element.querySelector("select");
  if (menu) menu.value = key;
  for (const radio of element.querySelectorAll("input")) radio.checked = radio.value === key;
}

/** The controls behind "Options"; `onChange` gets what was changed, and whether it is settled. */
export function wireOptions(onChange) {
  const least = document.getElementById("least");
  const open = document.getElementById("options-open");
  open.addEventListener("click", () => {
    const panel = document.getElementById("options");
    panel.hidden = !panel.hidden;
    open.setAttribute("aria-expanded", String(!panel.hidden));
  });
  document.getElementById("ranking").addEventListener("change", (event) => {
    onChange({ ranking: event.target.value }, true);
  });
  least.addEventListener("input", () => onChange({ least: Number(least.value) }, false));
  least.addEventListener("change", () => onChange({ least: Number(least.value) }, true));
  document.getElementById("least-reset").addEventListener("click", () => onChange({ least: null }, true));
}

/** Show the ranking and the least score of a search. */
export function showOptions(search) {
  const { ranking, least } = search;
  for (const radio of document.querySelectorAll("#ranking input")) radio.checked = radio.value === ranking;
  const value = leastOf(search);
  document.getElementById("least").value = String(value);
  document.getElementById("least-shown").textContent = value.toFixed(2);
  document.getElementById("least-reset").hidden = least === null;
  document.getElementById("options-changed").hidden = least === null && ranking === "hybrid";
}
