// The HTTP API, as the pages use it. Every failed request becomes a `Failure` with a kind.

const API = new URL("../api/v1/", import.meta.url);

/** A failed request: `kind` is the error of the API, or `offline` or `unreachable` without a response. */
export class Failure extends Error {
  constructor(kind, message, retryAfter = 0) {
    super(message);
    this.kind = kind;
    this.retryAfter = retryAfter;
  }
}

/** Search for passages; the signal aborts the request. */
export function search(body, signal) {
  return post("search", body, signal);
}

/** Fetch the pages and sections whose name fits what has been typed; the signal aborts the request. */
export async function suggest(text, limit, signal) {
  // Unlike encodeURIComponent, this accepts half of a surrogate pair.
  const parameters = new URLSearchParams({ q: text, limit: String(limit) });
  return (await request(`suggest?${parameters}`, { signal })).suggestions;
}

/** Fetch a chunk with its neighbours, in the order of the page. */
export async function fetchNeighbours(chunkId, around) {
  return (await request(`chunks/${encodeURIComponent(chunkId)}?around=${around}`)).chunks;
}

/** Fetch the list of all indexed pages. */
export async function fetchDocuments() {
  return (await request("documents")).documents;
}

/** Send a JSON body to a route, and return its JSON response. */
export function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

/** Request a route, and return its JSON response. */
export async function request(path, options = {}) {
  try {
    // After going back, the browser would answer from its cache, with a passage that has been judged since.
    const response = await fetch(new URL(path, API), { cache: "no-store", ...options });
    if (response.ok) return await response.json();
    throw await readFailure(response);
  } catch (error) {
    if (error instanceof Failure || error.name === "AbortError") throw error;
    if (error instanceof SyntaxError) throw new Failure("internal_error", "The response could not be read.");
    throw new Failure(navigator.onLine ? "unreachable" : "offline", error.message);
  }
}

async function readFailure(response) {
  // A proxy may answer with anything.
  const { error, message } = await response.json().catch(() => null) ?? {};
  const retryAfter = Number.parseInt(response.headers.get("Retry-After") ?? "", 10) || 0;
  return new Failure(
    typeof error === "string" ? error : "internal_error",
    typeof message === "string" ? message : `The service answered with status ${response.status}.`,
    Math.max(0, retryAfter));
}
