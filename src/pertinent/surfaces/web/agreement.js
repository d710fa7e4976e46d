// The agreement of the judges: one section for each pair, with the passages on which they differ.

import { create } from "./dom.js";
import { fetchAgreement } from "./labels_api.js";

const UNNAMED_JUDGE = "the golden file";

/** Fetch the agreement and show it in the container. */
export async function showAgreement(container) {
  container.replaceChildren(create("p", { class: "quiet" }, "Loading…"));
  try {
    const { judges, pairs } = await fetchAgreement();
    container.replaceChildren(...(pairs.length ? pairs.map(drawPair) : [drawNoPairs(judges)]));
  } catch (failure) {
    container.replaceChildren(create("p", { class: "quiet", role: "alert" }, failure.message));
  }
}

function drawNoPairs(judges) {
  const names = judges.map(({ judge, passages }) => `${judge ?? UNNAMED_JUDGE} (${passages})`).join(", ");
  return create("p", { class: "quiet" },
    "Agreement needs two judges who have judged the same passages. ", names ? `Labels so far: ${names}.` : "");
}

function drawPair(pair) {
  const names = [pair.first ?? UNNAMED_JUDGE, pair.second ?? UNNAMED_JUDGE];
  const kappa = pair.kappa === null ? "undefined, because both gave the same grade every time" : pair.kappa.toFixed(2);
  return create("section", { class: "pair" },
    create("h2", {}, `${names[0]} and ${names[1]}`),
    create("p", {}, "Weighted kappa ", create("strong", {}, kappa),
      ` over ${pair.n} passages; the same grade for ${pair.same}.`),
    pair.disagreements.length ? drawTable(names, pair.disagreements) : null);
}

function drawTable(names, disagreements) {
  const drawCell = (tag, text, scope) => create(tag, { scope }, text);
  const head = create("tr", {}, ...[...names, "Query and passage"].map((name) => drawCell("th", name, "col")));
  const rows = disagreements.map(({ first, second, query, breadcrumb }) => create("tr", {},
    drawCell("td", String(first)), drawCell("td", String(second)),
    create("td", {}, query.text, create("span", { class: "location" }, breadcrumb))));
  return create("div", { class: "scroll" },
    create("table", {}, create("thead", {}, head), create("tbody", {}, ...rows)));
}
