// What the page shows when it has no hits to show: before a search, nothing found, failed.

import { make } from "./dom.js";

const SAID = {
  offline: ["You are offline.", "The search goes on when the connection is back."],
  unreachable: ["The service can't be reached.", "It may have been stopped, or the connection was lost."],
  rate_limited: ["Too many searches at once.", "The service asks for a short break."],
  unauthorized: ["The service asks for a key.", "Reload the page to give one."],
  service_unavailable: ["The search is not ready.", null],
  upstream_error: ["A part of the search did not answer.", null],
  validation_error: ["This can't be searched for.", null],
};

/** What the service says of a query's length; nothing is missing for it. */
const ADVICE = /^query_text /;

/** A short hint, with a few titles to try. */
export function drawHint(titles, onExample) {
  const hint = make("div", { class: "hint" }, make("p", {},
    "Ask in your own words, or name a term. You get the passages that answer, with their place in the book."));
  if (!titles.length) return hint;
  const example = (title) => make("li", {},
    make("button", { type: "button", class: "example", on: { click: () => onExample(title) } }, title));
  hint.append(make("p", { class: "try", id: "try" }, "For example"),
    make("ul", { class: "examples", "aria-labelledby": "try" }, ...titles.map(example)));
  return hint;
}

/** Nothing passed the threshold: why, where the service says it; what was nearest follows. */
export function drawNothing(query, part, warnings, hasNearest, onEverywhere) {
  const box = make("div", { class: "nothing" },
    make("p", {}, make("strong", {}, "No passage is close enough"),
      ` to “${shortened(query)}”${part ? ` in ${part}` : ""}.`));
  if (part) {
    box.append(make("p", {},
      make("button", { type: "button", class: "button", on: { click: onEverywhere } }, "Search the whole book")));
  } else if (!hasNearest) {
    const advice = warnings.length ? warnings : ["Other words for the same thing may help, or fewer of them."];
    box.append(...advice.map((text) => make("p", { class: "quiet" }, sentence(text))));
  }
  if (hasNearest) box.append(make("h2", { class: "nearest-title" }, "The nearest, below the threshold"));
  return box;
}

/** What the service warns of, apart from advice on the query's length. */
export function warningsOf(answer) {
  return answer.warnings.filter((warning) => !ADVICE.test(warning));
}

/** An answer came, but a part of the search was down. */
export function drawPartial(warnings) {
  return make("div", { class: "notice", role: "note" },
    make("p", {}, make("strong", {}, "A part of the search did not answer."), " These results may be incomplete."),
    ...warnings.map((warning) => make("p", { class: "quiet" }, sentence(warning))));
}

/** No answer came. */
export function drawFailure(failure, onRetry) {
  const [what, more] = SAID[failure.kind] ?? ["The search failed.", null];
  const again = make("button", { type: "button", class: "button", on: { click: onRetry } }, "Try again");
  return make("div", { class: "notice failed", role: "alert" },
    make("p", {}, make("strong", {}, what), " ", more ?? sentence(failure.message)),
    failure.kind === "validation_error" ? null : make("p", {}, again));
}

function sentence(text) {
  if (!text) return "";
  return text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

function shortened(query) {
  return query.length > 80 ? `${query.slice(0, 79)}…` : query;
}
