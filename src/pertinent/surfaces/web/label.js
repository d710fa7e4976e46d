// The label page: one passage at a time, a key for each grade, and nothing shown that a key has not saved.

import { drawAgreement } from "./agreement.js";
import { make, say } from "./dom.js";
import { judgePassage, nextPassage, undoLast } from "./labels.js";
import { render } from "./markdown.js";
import { tame } from "./results.js";

const $ = (id) => document.getElementById(id);
const STORED = "pertinent.judge";
const GRADES = { 0: "does not help", 1: "in part", 2: "answers" };

const judgeField = $("judge");
const noteField = $("note");
const passage = $("passage");

/** What is on the desk, as the service gave it. */
let shown = null;
let busy = false;
let again = 0;

// ── what the judge does ───────────────────────────────────────────────────

const ACTS = {
  0: () => judge(0),
  1: () => judge(1),
  2: () => judge(2),
  s: () => judge(null),
  u: undo,
  n: () => noteField.focus(),
  "?": () => $("help").showModal(),
};

function judge(grade) {
  if (!shown?.passage) return;
  const { query, passage: judged } = shown;
  const given = { judge: who(), query, passage: judged, grade, note: noteField.value.trim() };
  carry(() => judgePassage(given), (next) => {
    noteField.value = "";
    show(next);
    const saved = grade === null ? "Skipped." : `Saved: ${grade}, ${GRADES[grade]}.`;
    say(next.passage ? `${saved} Next passage.` : `${saved} Everything is judged.`);
  });
}

function undo() {
  if (!shown?.undoable) {
    say("There is nothing to take back.");
    return;
  }
  carry(() => undoLast(who()), (taken) => {
    show(taken);
    noteField.value = taken.note ?? "";
    say(taken.grade === null ? "Taken back: the skip." : `Taken back: ${taken.grade}, ${GRADES[taken.grade]}.`);
  }, start); // Whether it was taken back already is not known, and twice would be one too many.
}

/** Ask the service for something, one thing at a time; where it fails, all stays as it is. */
async function carry(ask, done, retry = () => carry(ask, done)) {
  if (busy) return;
  hold(true);
  clearTimeout(again);
  try {
    const answer = await ask();
    hold(false);
    $("notice").replaceChildren();
    done(answer);
  } catch (failure) {
    hold(false);
    showFailure(failure, retry);
  }
}

function hold(on) {
  busy = on;
  $("desk").setAttribute("aria-busy", String(on));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("help").open) return;
  if (event.target === noteField) {
    if (event.key === "Enter" || event.key === "Escape") passage.focus();
    else return;
  } else if (event.target.matches("input") || !Object.hasOwn(ACTS, event.key)) {
    return;
  } else if (!event.repeat) {
    // A key that is held down judges one passage, not ten.
    ACTS[event.key]();
  }
  event.preventDefault();
});
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => ACTS[button.dataset.key]());
}
$("help-open").addEventListener("click", () => $("help").showModal());
$("help-close").addEventListener("click", () => $("help").close());

// ── who judges ────────────────────────────────────────────────────────────

function who() {
  return judgeField.value.trim();
}

function remembered() {
  try {
    return localStorage.getItem(STORED) ?? "";
  } catch {
    return ""; // A browser may forbid it; then the name is asked for on each visit.
  }
}

judgeField.value = remembered();
judgeField.addEventListener("change", () => {
  try {
    localStorage.setItem(STORED, who());
  } catch {
    // As above.
  }
  noteField.value = "";
  start();
});
$("who").addEventListener("submit", (event) => {
  event.preventDefault();
  judgeField.blur(); // which takes the name up, if it is another
  passage.focus();
});

// ── what is shown ─────────────────────────────────────────────────────────

function show(answer) {
  shown = answer;
  const { query, passage: next, progress } = answer;
  $("bar").max = Math.max(progress.total, 1);
  $("bar").value = progress.judged;
  $("count").textContent = counted(progress);
  document.title = `${progress.judged} of ${progress.total} – Label – Pertinent`;
  $("sheet").hidden = !next;
  $("desk").hidden = !next && !answer.undoable;
  for (const button of document.querySelectorAll("[data-key]")) {
    button.disabled = button.dataset.key === "u" ? !answer.undoable : !next;
  }
  noteField.disabled = !next;
  if (!next) {
    showComplete(progress);
    return;
  }
  $("question").textContent = query.text;
  $("where").textContent = [next.title, next.section].filter(Boolean).join(" › ");
  $("text").replaceChildren(render(next.content));
  tame(passage);
  passage.focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

function counted({ judged, skipped, total }) {
  return `${judged} of ${total} judged${skipped ? ` · ${skipped} skipped` : ""}`;
}

function showComplete({ total }) {
  const words = total
    ? "Everything is judged. Thank you!"
    : "There is nothing to judge: no query that may have an answer finds a passage.";
  $("notice").replaceChildren(make("p", { class: "complete", tabIndex: -1 }, words));
  $("notice").firstChild.focus();
}

function showFailure(failure, retry) {
  const { kind, message, retryAfter } = failure;
  if (!shown && retryAfter) again = setTimeout(start, Math.min(retryAfter, 60) * 1000);
  // Before anything is shown: labelling is off, or not ready.
  const calm = !shown && (kind === "not_found" || retryAfter);
  const gone = shown && kind === "not_found";
  const act = make("button", { type: "button", class: "button", on: { click: gone ? start : retry } },
    gone ? "Go on" : "Try again");
  const silent = kind === "unreachable" || kind === "offline";
  const state = !shown ? "This could not be loaded. " : silent ? "This may not be saved. " : "Nothing was saved. ";
  const words = silent ? "The service can't be reached." : sentence(message);
  $("notice").replaceChildren(make("div", { class: calm ? "notice" : "notice failed", role: calm ? "status" : "alert" },
    make("p", {}, calm ? null : make("strong", {}, state), words), calm ? null : make("p", {}, act)));
}

function sentence(text) {
  return text ? text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".") : "";
}

function start() {
  carry(() => nextPassage(who()), show);
}

$("agreement").addEventListener("toggle", () => {
  if ($("agreement").open) drawAgreement($("agreed"));
});
start();
