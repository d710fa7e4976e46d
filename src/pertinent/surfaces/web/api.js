// The service, as this page uses it. Every failure becomes a `Failure` with a kind.

const API = new URL("../api/v1/", import.meta.url);

/** A request that got no answer, or an answer that says what is wrong. */
export class Failure extends Error {
  constructor(kind, message, retryAfter = 0) {
    super(message);
    this.kind = kind;
    this.retryAfter = retryAfter;
  }
}

/** Passages for a query; the signal breaks it off. */
export function search(body, signal) {
  const headers = { "Content-Type": "application/json" };
  return request("search", { method: "POST", headers, body: JSON.stringify(body), signal });
}

/** A chunk with its neighbours, in the order of the page. */
export async function chunksAround(chunkId, around) {
  return (await request(`chunks/${encodeURIComponent(chunkId)}?around=${around}`)).chunks;
}

/** Every page that is indexed. */
export async function documents() {
  return (await request("documents")).documents;
}

/** What a route answers, as JSON. */
export async function request(path, options = {}) {
  try {
    const response = await fetch(new URL(path, API), options);
    if (response.ok) return await response.json();
    throw await failure(response);
  } catch (error) {
    if (error instanceof Failure || error.name === "AbortError") throw error;
    if (error instanceof SyntaxError) throw new Failure("internal_error", "The answer could not be read.");
    throw new Failure(navigator.onLine ? "unreachable" : "offline", error.message);
  }
}

async function failure(response) {
  const said = await response.json().catch(() => ({}));
  const retryAfter = Number.parseInt(response.headers.get("Retry-After") ?? "", 10) || 0;
  const message = said.message ?? `The service answered ${response.status}.`;
  return new Failure(said.error ?? "internal_error", message, retryAfter);
}
