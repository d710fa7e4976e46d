// The score of a hit and its parts, as a number, as bars and for screen readers.

import { create } from "./dom.js";

const PARTS = [["meaning", "cosine"], ["words", "lexical"], ["reranker", "rerank"]];

/** Draw the score as a number with a bar for each part. */
export function drawScore(result) {
  const parts = PARTS.filter(([, key]) => Number.isFinite(result.scores?.[key]));
  const total = formatScore(result.similarity_score);
  const partTexts = parts.map(([name, key]) => `${name} ${formatScore(result.scores[key])}`).join(", ");
  const spokenText = [`Score ${total} of 1`, partTexts].filter(Boolean).join(": ");
  return create("div", { class: "score", title: "How similar the passage is to the query, from 0 to 1" },
    create("span", { class: "visually-hidden" }, spokenText),
    create("span", { class: "total", "aria-hidden": "true" }, total),
    create("span", { class: "bars", "aria-hidden": "true" },
      ...parts.map(([name, key]) => drawBar(name, result.scores[key]))));
}

function drawBar(name, value) {
  const track = create("span", { class: `track ${name}` }, create("span", { class: "fill" }));
  track.firstChild.style.setProperty("inline-size", `${Math.round(clamp(value) * 100)}%`);
  return create("span", { class: "bar" }, create("span", {}, name), track, create("span", {}, formatScore(value)));
}

function formatScore(value) {
  return clamp(value).toFixed(2);
}

function clamp(value) {
  return Math.min(1, Math.max(0, Number(value) || 0));
}
