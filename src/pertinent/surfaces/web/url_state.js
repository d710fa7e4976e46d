// The search in the page's URL, so that it can be shared, bookmarked and reached with the back button.

export const RANKINGS = ["hybrid", "dense", "lexical"];

/** The URL of the last search that got its own history entry. */
let committedUrl = location.href;

/** Read the search from the URL: `{query, exact, part, ranking, minScore}`. Invalid values are ignored. */
export function readSearch() {
  const parameters = new URLSearchParams(location.search);
  const ranking = parameters.get("ranking");
  const minScore = Number(parameters.get("least") ?? Number.NaN);
  return {
    query: parameters.get("q") ?? "",
    exact: parameters.get("exact") === "1",
    part: parameters.get("part") ?? "",
    ranking: RANKINGS.includes(ranking) ? ranking : RANKINGS[0],
    minScore: minScore >= 0 && minScore <= 1 ? minScore : null,
  };
}

/** Show the search in the URL without a new history entry, while the reader types. */
export function replaceSearch(search) {
  history.replaceState(null, "", toUrl(search));
}

/** Show the search in the URL as a new history entry, after the last committed search. */
export function pushSearch(search) {
  const url = toUrl(search);
  if (url === committedUrl) {
    history.replaceState(null, "", url);
    return;
  }
  history.replaceState(null, "", committedUrl);
  history.pushState(null, "", url);
  committedUrl = url;
}

/** Call `onSearch` with the search of the URL when the reader goes back or forward. */
export function onHistoryChange(onSearch) {
  addEventListener("popstate", () => {
    committedUrl = location.href;
    onSearch(readSearch());
  });
}

function toUrl({ query, exact, part, ranking, minScore }) {
  const url = new URL(location.pathname, location.origin);
  if (query.trim()) url.searchParams.set("q", query.trim());
  if (query.trim() && exact) url.searchParams.set("exact", "1");
  if (part) url.searchParams.set("part", part);
  if (ranking !== RANKINGS[0]) url.searchParams.set("ranking", ranking);
  if (minScore !== null) url.searchParams.set("least", String(minScore));
  return url.href;
}
