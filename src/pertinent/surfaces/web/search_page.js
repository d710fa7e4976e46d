// The search page: what the reader enters, and what is shown for it.

import * as api from "./api.js";
import { create } from "./dom.js";
import { drawParts, getMinScore, listenToOptions, showOptions, showPart } from "./filters.js";
import { buildPattern } from "./highlight.js";
import { listenToKeyboard } from "./keyboard.js";
import { findParts, pickExamples } from "./parts.js";
import { getSnippetLength, listMarkedWords, makeScrollable } from "./passage.js";
import { drawGroups, focusHit, getHits, groupByPage } from "./results.js";
import { drawCorrection, drawFailure, drawHint, drawNoResults, drawPartial, getWarnings } from "./states.js";
import { attachSuggestions } from "./suggestions.js";
import { onHistoryChange, pushSearch, readSearch, replaceSearch } from "./url_state.js";

/** A search starts after this pause in typing. */
const TYPING_PAUSE_MS = 200;
const BUSY_MS = 400;
const SLOW_MS = 3000;
const FIRST_COUNT = 12;
const MAX_COUNT = 100;
/** The limit for one page at first, so that other pages are visible too; "More passages" lifts it. */
const FIRST_PER_PAGE = 5;

const $ = (id) => document.getElementById(id);
const searchBox = $("query");
const hitList = $("hits");
const notice = $("notice");
const status = $("status");
const suggestions = attachSuggestions(searchBox, $("suggestions"));

/** The current search, as in the URL. */
let search = readSearch();
/** Whether the reader is still typing: then no default minimum hides passages from one letter to the next. */
let isTyping = false;
let count = FIRST_COUNT;
let parts = [];
let exampleTitles = [];
/** The AbortController of the running request. */
let running = null;
/** Identifies the search whose answer is shown or requested. */
let requestedKey = "";
let typingTimer = 0;
let retryTimer = 0;

const documentsLoaded = api.fetchDocuments().then((documents) => {
  parts = findParts(documents);
  exampleTitles = pickExamples(documents);
  drawParts($("parts"), parts, (part) => changeSearch({ part }));
  if (!parts.some((part) => part.key === search.part)) search = { ...search, part: "" };
  showPart($("parts"), search.part);
  if (!search.query.trim()) showHint();
}).catch(() => {}); // Without the list of pages there are no parts and no examples; searching still works.

// ── input ─────────────────────────────────────────────────────────────────

/** Change the search. A final change gets a history entry; a change while typing does not. */
function changeSearch(changes, { isFinal = true, delay = 0 } = {}) {
  // Another query is corrected again.
  const exact = search.exact && (changes.query ?? search.query) === search.query;
  search = { ...search, exact, ...changes };
  isTyping = !isFinal;
  count = FIRST_COUNT;
  showOptions(search);
  clearTimeout(typingTimer);
  if (isFinal) pushSearch(search);
  const run = () => {
    if (!isFinal) replaceSearch(search);
    runSearch();
  };
  if (delay) typingTimer = setTimeout(run, delay);
  else run();
}

/** Show a search from the URL. */
function restoreSearch(restored) {
  clearTimeout(typingTimer);
  suggestions.close();
  search = restored;
  isTyping = false;
  count = FIRST_COUNT;
  searchBox.value = search.query;
  showOptions(search);
  showPart($("parts"), search.part);
  runSearch();
}

function enterQuery(query, options) {
  suggestions.close();
  searchBox.value = query;
  searchBox.focus();
  changeSearch({ query }, options);
}

searchBox.addEventListener("input", (event) => {
  if (!event.isComposing) readSearchBox();
});
searchBox.addEventListener("compositionend", readSearchBox);

/** Suggest names for what is typed at once, and search for it when the typing pauses. */
function readSearchBox() {
  const query = searchBox.value;
  suggestions.update(query);
  changeSearch({ query }, { isFinal: false, delay: query.trim() ? TYPING_PAUSE_MS : 0 });
}

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  suggestions.close();
  changeSearch({ query: searchBox.value });
  // On a phone the keyboard would cover the results.
  if (matchMedia("(pointer: coarse)").matches) searchBox.blur();
});

listenToOptions((changes, isFinal) => changeSearch(changes, { isFinal, delay: isFinal ? 0 : TYPING_PAUSE_MS }));
listenToKeyboard({
  searchBox,
  suggestions,
  results: hitList,
  help: $("help"),
  onClear: () => enterQuery("", { isFinal: false }),
});
onHistoryChange(restoreSearch);
addEventListener("online", () => notice.querySelector(".failed") && runSearch({ force: true }));

// ── search ────────────────────────────────────────────────────────────────

/** Run the current search, unless its answer is shown already. */
async function runSearch({ force = false } = {}) {
  const query = search.query.trim();
  document.title = query ? `${query} – Pertinent` : "Pertinent";
  clearTimeout(retryTimer);
  if (!query) {
    abortSearch();
    showHint();
    return;
  }
  const key = JSON.stringify([search, query, count, getThreshold(), isTyping]);
  if (key === requestedKey && !force) return;
  abortSearch();
  requestedKey = key;
  const controller = new AbortController();
  running = controller;
  const timers = startWaitTimers(controller);
  try {
    // The filter needs the URL of the part, which comes with the list of pages.
    if (search.part) await documentsLoaded;
    const answer = await api.search(buildRequest(query), controller.signal);
    if (!controller.signal.aborted) showAnswer(answer, query);
  } catch (error) {
    if (!controller.signal.aborted) showFailure(error instanceof api.Failure ? error : describeBug(error));
  } finally {
    timers.forEach(clearTimeout);
    if (running === controller) $("form").classList.remove("busy");
  }
}

/** Return the failure for an answer that can't be shown; the console has the details. */
function describeBug(error) {
  console.error(error);
  return new api.Failure("internal_error", "The response could not be shown.");
}

function abortSearch() {
  running?.abort();
  running = null;
  requestedKey = "";
  $("form").classList.remove("busy");
}

function buildRequest(query) {
  const part = getSelectedPart();
  return {
    query_text: query,
    top_k: count,
    similarity_threshold: getThreshold(),
    ranking: search.ranking,
    snippet_length: getSnippetLength(),
    ...(search.exact && { correct: false }),
    // A reranker is too slow, or too dear, for every pause in the typing.
    ...(isTyping && { rerank: false }),
    ...(count === FIRST_COUNT && { per_page: FIRST_PER_PAGE }),
    ...(part && { filters: { url: part.url } }),
  };
}

function getThreshold() {
  return isTyping ? search.minScore ?? 0 : getMinScore(search);
}

function getSelectedPart() {
  return parts.find((part) => part.key === search.part);
}

// ── output ────────────────────────────────────────────────────────────────

function startWaitTimers(controller) {
  const startTimer = (action, ms) => setTimeout(() => controller.signal.aborted || action(), ms);
  return [
    startTimer(() => $("form").classList.add("busy"), BUSY_MS),
    startTimer(() => { status.textContent = "Still searching; this takes longer than usual."; }, SLOW_MS),
  ];
}

function showAnswer(answer, query) {
  const { results, nearest = [] } = answer;
  const pattern = buildPattern(answer.searched_for ?? query, listMarkedWords([...results, ...nearest]));
  const isEmpty = !results.length;
  const warnings = getWarnings(answer);
  const noResults = () => drawNoResults(query, getSelectedPart()?.name, warnings, nearest.length > 0, searchWholeBook);
  notice.replaceChildren(...(answer.status === "partial" ? [drawPartial(warnings)] : []));
  hitList.replaceChildren(
    ...(isEmpty ? [noResults()] : []),
    ...drawGroups(isEmpty ? nearest : results, pattern),
    ...(mayHaveMore(results) ? [drawMoreButton()] : []));
  hitList.classList.toggle("below", isEmpty);
  $("correction").replaceChildren(...(answer.corrected ? [drawCorrection(answer.searched_for, query, searchExactly)] : []));
  status.textContent = describeCount(results, answer.query_time_ms);
  makeScrollable(hitList);
  if (scrollY > hitList.offsetTop && count === FIRST_COUNT) scrollTo({ top: 0 });
}

function describeCount(results, ms) {
  const pages = groupByPage(results).length;
  const minScore = getThreshold();
  if (!results.length) return minScore ? `No passage scores ${minScore.toFixed(2)} or more.` : "No passage was found.";
  const passages = results.length === 1 ? "1 passage" : `${results.length} passages`;
  return `${passages} on ${pages === 1 ? "1 page" : `${pages} pages`} · ${Math.max(1, Math.round(ms))} ms`;
}

function mayHaveMore(results) {
  const isCapped = count === FIRST_COUNT && groupByPage(results).some((hits) => hits.length >= FIRST_PER_PAGE);
  return count < MAX_COUNT && (isCapped || results.length >= count);
}

function drawMoreButton() {
  const showMore = async () => {
    const oldChunks = new Set(getHits(hitList).map((hit) => hit.dataset.chunk));
    count = Math.min(count * 2, MAX_COUNT);
    await runSearch();
    // New hits may appear further up too. The reader continues after the last hit that was there before.
    const hits = getHits(hitList);
    const isNew = (hit) => !oldChunks.has(hit.dataset.chunk);
    const nextHit = hits[hits.findLastIndex((hit) => !isNew(hit)) + 1] ?? hits.find(isNew);
    if (nextHit) focusHit(nextHit);
  };
  return create("button", { type: "button", class: "button more", on: { click: showMore } }, "More passages");
}

function searchWholeBook() {
  showPart($("parts"), "");
  changeSearch({ part: "" });
}

function searchExactly() {
  searchBox.focus();
  changeSearch({ exact: true });
}

function showHint() {
  notice.replaceChildren();
  $("correction").replaceChildren();
  status.textContent = "";
  hitList.classList.remove("below");
  hitList.replaceChildren(drawHint(exampleTitles, (title) => enterQuery(title)));
}

function showFailure(failure) {
  requestedKey = "";
  status.textContent = "";
  $("correction").replaceChildren();
  hitList.replaceChildren();
  notice.replaceChildren(drawFailure(failure, () => {
    searchBox.focus();
    runSearch({ force: true });
  }));
  if (failure.retryAfter) {
    retryTimer = setTimeout(() => runSearch({ force: true }), Math.min(failure.retryAfter, 60) * 1000);
  }
}

restoreSearch(search);
