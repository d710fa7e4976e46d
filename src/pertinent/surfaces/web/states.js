// Everything that the search page shows besides hits: the hint, "no results", warnings and failures.

import { create, toSentence } from "./dom.js";

/** Headline and explanation for each kind of failure; without an explanation, the service's message is shown. */
const FAILURES = new Map(Object.entries({
  offline: ["You are offline.", "The search continues when the connection is back."],
  unreachable: ["The service can't be reached.", "It may have been stopped, or the connection was lost."],
  rate_limited: ["Too many searches.", "The service limits how many it answers per minute."],
  unauthorized: ["The service needs an API key.", "Reload the page to enter one."],
  service_unavailable: ["The search is not available.", null],
  upstream_error: ["A part of the search did not answer.", null],
  validation_error: ["This query can't be searched.", null],
}));

/** Advice of the service on the length of the query, which does not affect the results. */
const LENGTH_ADVICE = /^query_text /;

/** Draw a hint with a few example queries. */
export function drawHint(titles, onExample) {
  const hint = create("div", { class: "hint" }, create("p", {},
    "Ask a question in your own words, or enter a term. You get the passages that answer it, with links to their pages."));
  if (!titles.length) return hint;
  const drawExample = (title) => create("li", {},
    create("button", { type: "button", class: "example", on: { click: () => onExample(title) } }, title));
  hint.append(create("p", { class: "try", id: "try" }, "For example"),
    create("ul", { class: "examples", "aria-labelledby": "try" }, ...titles.map(drawExample)));
  return hint;
}

/** Draw "no results", with advice, or with a title for the nearest results that follow. */
export function drawNoResults(query, part, warnings, hasNearest, onSearchAll) {
  const box = create("div", { class: "no-results" },
    create("p", {}, create("strong", {}, "No passage is close enough"),
      ` to “${shortenQuery(query)}”${part ? ` in ${part}` : ""}.`));
  if (part) {
    box.append(create("p", {},
      create("button", { type: "button", class: "button", on: { click: onSearchAll } }, "Search the whole book")));
  } else if (!hasNearest) {
    const advice = warnings.length ? warnings : ["Try other words for the same thing, or fewer words."];
    box.append(...advice.map((text) => create("p", { class: "quiet" }, toSentence(text))));
  }
  if (hasNearest) box.append(create("h2", { class: "nearest-title" }, "Nearest passages, below the minimum score"));
  return box;
}

/** Draw which words were searched for instead of the query, with a button to search for the query itself. */
export function drawCorrection(searchedFor, query, onExact) {
  return create("p", {}, "Showing results for ", create("strong", {}, shortenQuery(searchedFor)), ". Search instead for ",
    create("button", { type: "button", class: "text-button", on: { click: onExact } }, shortenQuery(query)));
}

/** Return the warnings of an answer, without advice on the length of the query. */
export function getWarnings(answer) {
  return answer.warnings.filter((warning) => !LENGTH_ADVICE.test(warning));
}

/** Draw a notice that a part of the search was down. */
export function drawPartial(warnings) {
  return create("div", { class: "notice", role: "note" },
    create("p", {}, create("strong", {}, "A part of the search did not answer."), " These results may be incomplete."),
    ...warnings.map((warning) => create("p", { class: "quiet" }, toSentence(warning))));
}

/** Draw a failed search, with a button to try again. */
export function drawFailure(failure, onRetry) {
  const [headline, explanation] = FAILURES.get(failure.kind) ?? ["The search failed.", null];
  const retryButton = create("button", { type: "button", class: "button", on: { click: onRetry } }, "Try again");
  return create("div", { class: "notice failed", role: "alert" },
    create("p", {}, create("strong", {}, headline), " ", explanation ?? toSentence(failure.message)),
    failure.kind === "validation_error" ? null : create("p", {}, retryButton));
}

function shortenQuery(query) {
  return query.length > 80 ? `${query.slice(0, 79)}…` : query;
}
