// The routes of the label page.

import { request } from "./api.js";

/** What the judge is to look at now. */
export function nextPassage(judge) {
  return request(`labels/next${judge ? `?judge=${encodeURIComponent(judge)}` : ""}`);
}

/** Save a judgment, and get the next passage; a grade of null skips. */
export function judgePassage({ judge, query, passage, grade, note }) {
  return post("labels", {
    judge: judge || null, query_id: query.id, chunk_id: passage.chunk_id, grade, note: note || null,
  });
}

/** Take the judge's last judgment back, and get its passage again. */
export function undoLast(judge) {
  return post("labels/undo", { judge: judge || null });
}

/** Every two judges who have judged the same passages. */
export function judgesAgreement() {
  return request("labels/agreement");
}

function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(body) });
}
