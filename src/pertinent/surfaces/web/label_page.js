// The label page: one passage at a time, and a key for each grade. A judgment counts only once it is saved.

import { showAgreement } from "./agreement.js";
import { Failure } from "./api.js";
import { announce, create, toSentence } from "./dom.js";
import { fetchNextPassage, judgePassage, undoJudgment } from "./labels_api.js";
import { render } from "./markdown.js";
import { makeScrollable } from "./passage.js";

const $ = (id) => document.getElementById(id);
const STORAGE_KEY = "pertinent.judge";
const GRADES = { 0: "does not help", 1: "in part", 2: "answers" };

const judgeField = $("judge");
const noteField = $("note");
const passageElement = $("passage");

/** The last response of the service: query, passage, progress, undoable. */
let current = null;
let isBusy = false;
let retryTimer = 0;

// ── input ─────────────────────────────────────────────────────────────────

const ACTIONS = {
  0: () => judge(0),
  1: () => judge(1),
  2: () => judge(2),
  s: () => judge(null),
  u: undo,
  n: () => noteField.focus(),
  "?": () => $("help").showModal(),
};

function judge(grade) {
  if (!current?.passage) return;
  const { query, passage } = current;
  const judgment = { judge: getJudge(), query, passage, grade, note: noteField.value.trim() };
  send(() => judgePassage(judgment), (response) => {
    noteField.value = "";
    show(response);
    const saved = grade === null ? "Skipped." : `Saved: ${grade}, ${GRADES[grade]}.`;
    announce(response.passage ? `${saved} Next passage.` : `${saved} Everything is judged.`);
  });
}

function undo() {
  if (!current?.undoable) {
    announce("There is nothing to undo.");
    return;
  }
  send(() => undoJudgment(getJudge()), (response) => {
    show(response);
    noteField.value = response.note ?? "";
    announce(response.grade === null ? "Undone: the skip." : `Undone: ${response.grade}, ${GRADES[response.grade]}.`);
  }, loadNext); // A failed undo may have taken effect; a retry could undo a second judgment.
}

/** Send one request at a time. If it fails, the page stays as it is and offers a retry. */
async function send(request, onResponse, retry = () => send(request, onResponse)) {
  if (isBusy) return;
  setBusy(true);
  clearTimeout(retryTimer);
  let response;
  try {
    response = await request();
  } catch (failure) {
    setBusy(false);
    showFailure(failure, retry);
    return;
  }
  setBusy(false);
  $("notice").replaceChildren();
  try {
    onResponse(response);
  } catch (error) {
    console.error(error);
    showFailure(new Failure("unreadable", "The response could not be shown."), loadNext);
  }
}

function setBusy(busy) {
  isBusy = busy;
  $("grading").setAttribute("aria-busy", String(busy));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("help").open) return;
  if (event.target === noteField) {
    if (event.key === "Enter" || event.key === "Escape") passageElement.focus();
    else return;
  } else if (event.target.matches("input") || !Object.hasOwn(ACTIONS, event.key)) {
    return;
  } else if (!event.repeat) {
    // A key that is held down judges one passage only.
    ACTIONS[event.key]();
  }
  event.preventDefault();
});
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => ACTIONS[button.dataset.key]());
}
$("help-open").addEventListener("click", () => $("help").showModal());
$("help-close").addEventListener("click", () => $("help").close());

// ── judge ─────────────────────────────────────────────────────────────────

function getJudge() {
  return judgeField.value.trim();
}

function loadJudge() {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? "";
  } catch {
    return ""; // The browser may forbid storage; then the name is entered on each visit.
  }
}

function saveJudge() {
  try {
    localStorage.setItem(STORAGE_KEY, getJudge());
  } catch {
    // As above.
  }
}

judgeField.value = loadJudge().slice(0, judgeField.maxLength);
judgeField.addEventListener("change", () => {
  saveJudge();
  noteField.value = "";
  loadNext();
});
$("judge-form").addEventListener("submit", (event) => {
  event.preventDefault();
  judgeField.blur(); // fires "change" if the name is new
  passageElement.focus();
});

// ── output ────────────────────────────────────────────────────────────────

function show(response) {
  const { query, passage, progress } = response;
  // If the passage can't be drawn, the former one is still shown, and a grade is for that one.
  const text = passage ? render(passage.content) : "";
  current = response;
  $("bar").max = Math.max(progress.total, 1);
  $("bar").value = progress.judged;
  $("count").textContent = describeProgress(progress);
  document.title = `${progress.judged} of ${progress.total} – Label – Pertinent`;
  $("task").hidden = !passage;
  $("grading").hidden = !passage && !response.undoable;
  for (const button of document.querySelectorAll("[data-key]")) {
    button.disabled = button.dataset.key === "u" ? !response.undoable : !passage;
  }
  noteField.disabled = !passage;
  if (!passage) {
    showComplete(progress);
    return;
  }
  $("question").textContent = query.text;
  $("location").textContent = [passage.title, passage.section].filter(Boolean).join(" › ");
  $("text").replaceChildren(text);
  makeScrollable(passageElement);
  passageElement.focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

function describeProgress({ judged, skipped, total }) {
  return `${judged} of ${total} judged${skipped ? ` · ${skipped} skipped` : ""}`;
}

function showComplete({ total }) {
  const text = total
    ? "Everything is judged. Thank you!"
    : "There is nothing to judge: the queries of the golden set find no passages.";
  $("notice").replaceChildren(create("p", { class: "complete", tabIndex: -1 }, text));
  $("notice").firstChild.focus();
}

function showFailure(failure, retry) {
  const { kind, message, retryAfter } = failure;
  if (!current && retryAfter) retryTimer = setTimeout(loadNext, Math.min(retryAfter, 60) * 1000);
  // At first, "labelling is off" and "not ready yet" are information rather than failures.
  const isInformation = !current && (kind === "not_found" || retryAfter);
  const isGone = current && kind === "not_found";
  const button = create("button", { type: "button", class: "button", on: { click: isGone ? loadNext : retry } },
    isGone ? "Continue" : "Try again");
  const hasNoResponse = kind === "unreachable" || kind === "offline";
  const headline = !current ? "Loading failed. "
    : hasNoResponse || kind === "unreadable" ? "Your judgment may not be saved. " : "Your judgment was not saved. ";
  const text = hasNoResponse ? "The service can't be reached." : toSentence(message);
  $("notice").replaceChildren(create("div",
    { class: isInformation ? "notice" : "notice failed", role: isInformation ? "status" : "alert" },
    create("p", {}, isInformation ? null : create("strong", {}, headline), text),
    isInformation ? null : create("p", {}, button)));
}

function loadNext() {
  send(() => fetchNextPassage(getJudge()), show);
}

$("agreement").addEventListener("toggle", () => {
  if ($("agreement").open) showAgreement($("agreement-pairs"));
});
loadNext();
