// The labelling routes of the API.

import { post, request } from "./api.js";

/** Fetch the next passage for the judge. */
export function fetchNextPassage(judge) {
  // Unlike encodeURIComponent, this accepts half of a surrogate pair.
  return request(`labels/next${judge ? `?${new URLSearchParams({ judge })}` : ""}`);
}

/** Save a judgment, and return the next passage; the grade null skips the passage. */
export function judgePassage({ judge, query, passage, grade, note }) {
  return post("labels", {
    judge: judge || null, query_id: query.id, chunk_id: passage.chunk_id, grade, note: note || null,
  });
}

/** Undo the judge's last judgment, and return its passage. */
export function undoJudgment(judge) {
  return post("labels/undo", { judge: judge || null });
}

/** Fetch the agreement of all pairs of judges. */
export function fetchAgreement() {
  return request("labels/agreement");
}
