// The page: what the reader asks for, and what is shown for it. Everything else is in the other modules.

import * as address from "./address.js";
import * as api from "./api.js";
import { drawParts, leastOf, showOptions, showPart, wireOptions } from "./filters.js";
import { wireKeys } from "./keys.js";
import { pattern } from "./marking.js";
import { examples, partsOf } from "./parts.js";
import { drawGroups, focusHit, grouped, hitsOf, tame } from "./results.js";
import { drawFailure, drawHint, drawNothing, drawPartial, warningsOf } from "./states.js";

const PAUSE_MS = 200;
const BUSY_MS = 400;
const SLOW_MS = 3000;
const FIRST_COUNT = 12;
const MOST = 100;
/** Of one page at first, so that other pages are seen too; who asks for more gets all. */
const FIRST_OF_PAGE = 5;

const $ = (id) => document.getElementById(id);
const box = $("query");
const found = $("found");
const notice = $("notice");
const status = $("status");

/** The search as it stands: what the address holds. */
let wanted = address.read();
let count = FIRST_COUNT;
let parts = [];
let titles = [];
let underway = null;
/** The request whose answer is on the page, or on its way there. */
let asked = "";
let pause = 0;
let again = 0;

const book = api.documents().then((documents) => {
  parts = partsOf(documents);
  titles = examples(documents);
  drawParts($("parts"), parts, (part) => change({ part }));
  if (!parts.some((part) => part.key === wanted.part)) wanted = { ...wanted, part: "" };
  showPart($("parts"), wanted.part);
  if (!wanted.query.trim()) showHint();
}).catch(() => {}); // Without the list the page has no filters and no examples, and searches all the same.

// ── what the reader does ──────────────────────────────────────────────────

/** Take up a change to the search, as a step in the history where it is meant. */
function change(given, { meant = true, wait = 0 } = {}) {
  wanted = { ...wanted, ...given };
  count = FIRST_COUNT;
  showOptions(wanted);
  clearTimeout(pause);
  if (meant) address.push(wanted);
  if (wait) pause = setTimeout(() => settle(meant), wait);
  else settle(meant);
}

function settle(meant) {
  if (!meant) address.replace(wanted);
  run();
}

function restore(search) {
  clearTimeout(pause);
  wanted = search;
  count = FIRST_COUNT;
  box.value = search.query;
  showOptions(search);
  showPart($("parts"), search.part);
  run();
}

box.addEventListener("input", (event) => {
  if (!event.isComposing) change({ query: box.value }, { meant: false, wait: box.value.trim() ? PAUSE_MS : 0 });
});
box.addEventListener("compositionend", () => change({ query: box.value }, { meant: false, wait: PAUSE_MS }));

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  change({ query: box.value });
  // On a phone the keyboard covers what was found.
  if (matchMedia("(pointer: coarse)").matches) box.blur();
});

wireOptions((given, meant) => change(given, { meant, wait: meant ? 0 : PAUSE_MS }));
wireKeys({ box, found, help: $("help"), onClear: () => example("", { meant: false }) });
address.onTravel(restore);
addEventListener("online", () => notice.querySelector(".failed") && run({ anew: true }));

function example(query, how) {
  box.value = query;
  box.focus();
  change({ query }, how);
}

// ── the search ────────────────────────────────────────────────────────────

/** Ask for what is wanted, unless that is what the page shows already. */
async function run({ anew = false } = {}) {
  const query = wanted.query.trim();
  document.title = query ? `${query} – Pertinent` : "Pertinent";
  clearTimeout(again);
  if (!query) {
    stop();
    showHint();
    return;
  }
  const key = JSON.stringify([wanted, query, count]);
  if (key === asked && !anew) return;
  stop();
  asked = key;
  const mine = (underway = new AbortController());
  const timers = showWaiting(mine);
  try {
    // A part is known by its address, which the list of pages tells.
    if (wanted.part) await book;
    const answer = await api.search(request(query), mine.signal);
    if (!mine.signal.aborted) show(answer, query);
  } catch (error) {
    if (!mine.signal.aborted) showFailure(error);
  } finally {
    timers.forEach(clearTimeout);
    if (underway === mine) $("form").classList.remove("busy");
  }
}

function stop() {
  underway?.abort();
  underway = null;
  asked = "";
  $("form").classList.remove("busy");
}

function request(query) {
  const part = parts.find((one) => one.key === wanted.part);
  return {
    query_text: query,
    top_k: count,
    similarity_threshold: leastOf(wanted),
    ranking: wanted.ranking,
    ...(count === FIRST_COUNT && { per_page: FIRST_OF_PAGE }),
    ...(part && { filters: { url: part.url } }),
  };
}

// ── what is shown ─────────────────────────────────────────────────────────

function showWaiting(mine) {
  const when = (act, ms) => setTimeout(() => mine.signal.aborted || act(), ms);
  return [
    when(() => $("form").classList.add("busy"), BUSY_MS),
    when(() => { status.textContent = "Still searching; the service takes longer than usual."; }, SLOW_MS),
  ];
}

function show(answer, query) {
  const words = pattern(query);
  const { results, nearest = [] } = answer;
  const part = parts.find((one) => one.key === wanted.part);
  const nothing = !results.length;
  const warnings = warningsOf(answer);
  notice.replaceChildren(...(answer.status === "partial" ? [drawPartial(warnings)] : []));
  found.replaceChildren(
    ...(nothing ? [drawNothing(query, part?.name, warnings, nearest.length > 0, () => everywhere())] : []),
    ...drawGroups(nothing ? nearest : results, words),
    ...(mayHaveMore(results) ? [more()] : []));
  found.classList.toggle("below", nothing);
  status.textContent = counted(results, answer.query_time_ms);
  tame(found);
  if (scrollY > found.offsetTop && count === FIRST_COUNT) scrollTo({ top: 0 });
}

function counted(results, ms) {
  const pages = grouped(results).length;
  if (!results.length) return `Nothing scores ${leastOf(wanted).toFixed(2)} or more.`;
  const passages = results.length === 1 ? "1 passage" : `${results.length} passages`;
  return `${passages} on ${pages === 1 ? "1 page" : `${pages} pages`} · ${Math.max(1, Math.round(ms))} ms`;
}

function mayHaveMore(results) {
  const held = count === FIRST_COUNT && grouped(results).some((hits) => hits.length >= FIRST_OF_PAGE);
  return count < MOST && (held || results.length >= count);
}

function more() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button more";
  button.textContent = "More passages";
  button.addEventListener("click", async () => {
    const before = new Set(hitsOf(found).map((hit) => hit.dataset.chunk));
    count = Math.min(count * 2, MOST);
    await run();
    // Some of the new ones may stand on pages further up; who reads on does so below what was there.
    const hits = hitsOf(found);
    const isNew = (hit) => !before.has(hit.dataset.chunk);
    const fresh = hits[hits.findLastIndex((hit) => !isNew(hit)) + 1] ?? hits.find(isNew);
    if (fresh) focusHit(fresh);
  });
  return button;
}

function everywhere() {
  showPart($("parts"), "");
  change({ part: "" });
}

function showHint() {
  notice.replaceChildren();
  status.textContent = "";
  found.classList.remove("below");
  found.replaceChildren(drawHint(titles, (title) => example(title)));
}

function showFailure(failure) {
  asked = "";
  status.textContent = "";
  found.replaceChildren();
  notice.replaceChildren(drawFailure(failure, () => {
    box.focus();
    run({ anew: true });
  }));
  if (failure.retryAfter) again = setTimeout(() => run({ anew: true }), Math.min(failure.retryAfter, 60) * 1000);
}

restore(wanted);
