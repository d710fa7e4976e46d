// The search in the page's address, so that it can be shared and gone back to.

export const RANKINGS = ["hybrid", "dense", "lexical"];

let committed = location.href;

/** The search that the address names: `{query, part, ranking, least}`; what makes no sense is left out. */
export function read() {
  const given = new URLSearchParams(location.search);
  const ranking = given.get("ranking");
  const least = given.get("least") === null ? Number.NaN : Number(given.get("least"));
  return {
    query: given.get("q") ?? "",
    part: given.get("part") ?? "",
    ranking: RANKINGS.includes(ranking) ? ranking : RANKINGS[0],
    least: least >= 0 && least <= 1 ? least : null,
  };
}

/** While a search is being typed, its address takes the place of the last. */
export function replace(search) {
  history.replaceState(null, "", href(search));
}

/** A search that is meant is a step in the history, after the last one that was meant. */
export function push(search) {
  const to = href(search);
  if (to === committed) {
    history.replaceState(null, "", to);
    return;
  }
  history.replaceState(null, "", committed);
  history.pushState(null, "", to);
  committed = to;
}

/** Tell when the reader goes back or forward. */
export function onTravel(act) {
  addEventListener("popstate", () => {
    committed = location.href;
    act(read());
  });
}

function href({ query, part, ranking, least }) {
  const url = new URL(location.pathname, location.origin);
  if (query.trim()) url.searchParams.set("q", query.trim());
  if (part) url.searchParams.set("part", part);
  if (ranking !== RANKINGS[0]) url.searchParams.set("ranking", ranking);
  if (least !== null) url.searchParams.set("least", String(least));
  return url.href;
}
