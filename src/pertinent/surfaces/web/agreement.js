// How far the judges agree: every two of them, and where they differ.

import { make } from "./dom.js";
import { judgesAgreement } from "./labels.js";

const NAMELESS = "the golden file";

/** Ask for the agreement and show it. */
export async function drawAgreement(place) {
  place.replaceChildren(make("p", { class: "quiet" }, "Looking…"));
  try {
    const { judges, pairs } = await judgesAgreement();
    place.replaceChildren(...(pairs.length ? pairs.map(drawPair) : [drawNone(judges)]));
  } catch (failure) {
    place.replaceChildren(make("p", { class: "quiet", role: "alert" }, failure.message));
  }
}

function drawNone(judges) {
  const known = judges.map(({ judge, passages }) => `${judge ?? NAMELESS} (${passages})`).join(", ");
  return make("p", { class: "quiet" },
    "Two judges must have judged the same passages. ", known ? `So far there are labels by ${known}.` : "");
}

function drawPair(pair) {
  const names = [pair.first ?? NAMELESS, pair.second ?? NAMELESS];
  const kappa = pair.kappa === null ? "not defined: both gave one grade throughout" : pair.kappa.toFixed(2);
  return make("section", { class: "pair" },
    make("h2", {}, `${names[0]} and ${names[1]}`),
    make("p", {}, "Weighted kappa ", make("strong", {}, kappa),
      ` over ${pair.n} passages; the same grade for ${pair.same}.`),
    pair.disagreements.length ? drawTable(names, pair.disagreements) : null);
}

function drawTable(names, disagreements) {
  const cell = (name, text, scope) => make(name, { scope }, text);
  const head = make("tr", {}, ...[...names, "Query and passage"].map((name) => cell("th", name, "col")));
  const rows = disagreements.map((one) => make("tr", {}, cell("td", String(one.first)), cell("td", String(one.second)),
    make("td", {}, one.query.text, make("span", { class: "where" }, one.breadcrumb))));
  return make("div", { class: "scroll" },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}
