// A score with its two parts, for the eye and for the ear.

import { make } from "./dom.js";

const PARTS = [["meaning", "cosine"], ["words", "lexical"]];

/** The score as a number and a pair of bars. */
export function drawScore(result) {
  const known = PARTS.filter(([, key]) => Number.isFinite(result.scores?.[key]));
  const total = shown(result.similarity_score);
  const parts = known.map(([name, key]) => `${name} ${shown(result.scores[key])}`).join(", ");
  const spoken = [`Score ${total} of 1`, parts];
  return make("div", { class: "score", title: "How near the passage is to the query, from 0 to 1" },
    make("span", { class: "unseen" }, spoken.filter(Boolean).join(": ")),
    make("span", { class: "total", "aria-hidden": "true" }, total),
    make("span", { class: "bars", "aria-hidden": "true" },
      ...known.map(([name, key]) => bar(name, result.scores[key]))));
}

function bar(name, value) {
  const track = make("span", { class: `track ${name}` }, make("span", { class: "fill" }));
  track.firstChild.style.setProperty("inline-size", `${Math.round(clamped(value) * 100)}%`);
  return make("span", { class: "bar" }, make("span", {}, name), track, make("span", {}, shown(value)));
}

function shown(value) {
  return clamped(value).toFixed(2);
}

function clamped(value) {
  return Math.min(1, Math.max(0, Number(value) || 0));
}
