// Requests to the service. Each failed one becomes a `SearchFailure`.

import { isInScope, type SearchScope } from "./options";

/** A page or section whose name fits what was typed. */
export interface Suggestion {
  title: string;
  section: string;
  url: string;
  is_page: boolean;
}

/** A passage that was found. */
export interface Hit {
  chunk_id: string;
  snippet: string;
  /** Start and end of each marked word, in Unicode code points. */
  highlights: [number, number][];
  metadata: { url: string; anchor: string; section: string; document_id: string; document_title: string };
}

export interface Answer {
  results: Hit[];
  status: "success" | "partial" | "no_results";
  searched_for: string;
  corrected: boolean;
}

export type FailureKind = "offline" | "unreachable" | "unavailable" | "rateLimited" | "refused" | "failed";

export class SearchFailure extends Error {
  constructor(readonly kind: FailureKind, message: string, readonly retryAfter = 0) {
    super(message);
  }
}

const SNIPPET_LENGTH = 160;
/** Hits below it are hidden for queries of several words; a word or two may be the beginning of anything. */
const MIN_SCORE = 0.2;
const WORDS_OF_A_QUESTION = 3;
/** Pages of other versions are left out afterwards, so as many as possible are requested. */
const MAX_HITS = 100;
const MAX_NAMES = 50;
const TIMEOUT_S = 10;

const KINDS: Record<number, FailureKind> = {
  401: "refused", 403: "refused", 429: "rateLimited", 502: "unavailable", 503: "unavailable", 504: "unavailable",
};

/** The routes of the service that a public key may call. */
export class SearchService {
  private readonly base: string;
  private readonly reported = new Set<string>();

  constructor(url: string, private readonly apiKey?: string) {
    this.base = url.replace(/\/*$/, "/");
  }

  /** Return pages and sections by what has been typed of their name. */
  async suggest(text: string, count: number, scope: SearchScope, signal: AbortSignal): Promise<Suggestion[]> {
    const isRestricted = Boolean(scope.url) || Boolean(scope.excludedUrls?.length);
    const parameters = { q: text, limit: String(isRestricted ? MAX_NAMES : count) };
    const { suggestions } = await this.request("api/v1/suggest", parameters, { signal }, checkSuggestions);
    return suggestions.filter((suggestion) => isInScope(suggestion.url, scope)).slice(0, count);
  }

  /** Return the passages that answer a query best. */
  async search(
    query: string, count: number, correct: boolean, scope: SearchScope, signal: AbortSignal,
  ): Promise<Answer> {
    const isQuestion = query.trim().split(/\s+/).length >= WORDS_OF_A_QUESTION;
    const hasExclusions = Boolean(scope.excludedUrls?.length);
    const body = {
      query_text: query,
      top_k: hasExclusions ? MAX_HITS : count,
      // Versions share most texts, and the one that is listed could be left out.
      distinct: !hasExclusions,
      similarity_threshold: isQuestion ? MIN_SCORE : 0,
      per_page: 3,
      snippet_length: SNIPPET_LENGTH,
      correct,
      // Passages are searched while one types, which a reranker is too slow for.
      rerank: false,
      ...(scope.url && { filters: { url: scope.url } }),
    };
    const headers = { "Content-Type": "application/json" };
    const options = { method: "POST", headers, body: JSON.stringify(body), signal };
    const answer = await this.request("api/v1/search", {}, options, checkAnswer);
    const results = answer.results.filter((hit) => isInScope(hit.metadata.url, scope)).slice(0, count);
    return { ...answer, results };
  }

  /** Send a request, and return its body, which `check` refuses if a field is missing. */
  private async request<Body>(
    path: string, parameters: Record<string, string>, { signal, ...options }: RequestInit & { signal: AbortSignal },
    check: (body: Body) => void,
  ): Promise<Body> {
    const timeout = AbortSignal.timeout(TIMEOUT_S * 1000);
    try {
      const response = await this.send(path, parameters, { ...options, signal: AbortSignal.any([signal, timeout]) });
      return await this.readBody(response, check);
    } catch (error) {
      if (signal.aborted || !timeout.aborted) throw error;
      const message = `Pertinent at ${this.base} did not answer within ${TIMEOUT_S} s.`;
      this.report(message);
      throw new SearchFailure("unavailable", message);
    }
  }

  private async send(path: string, parameters: Record<string, string>, options: RequestInit): Promise<Response> {
    // The public key is sent in the address: with a header of its own, each request would need a preflight.
    const query = new URLSearchParams({ ...parameters, ...(this.apiKey && { key: this.apiKey }) });
    const address = `${this.base}${path}?${query}`;
    let response: Response;
    try {
      response = await fetch(address, options);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      this.report(
        `Pertinent at ${this.base} can't be reached from this page. If it runs, its setting cors_origins must name ` +
        `${location.origin}, and the page's content security policy must allow connections to it.`);
      throw new SearchFailure(navigator.onLine ? "unreachable" : "offline", String(error));
    }
    if (response.ok) return response;
    // A proxy may answer with anything.
    const failure = await response.json().catch(() => null) as { message?: unknown } | null;
    const message = typeof failure?.message === "string" ? failure.message : `HTTP ${response.status}`;
    options.signal?.throwIfAborted();
    const kind = KINDS[response.status] ?? "failed";
    if (kind === "refused") {
      this.report(
        `Pertinent refused the search: ${message}. A web page needs one of the service's public_keys, never one of its ` +
        "api_keys: as data-key of the widget, or as apiKey of the theme.");
    }
    if (kind === "failed") this.report(`Pertinent failed to search: ${message}`);
    const retryAfter = Number.parseInt(response.headers.get("Retry-After") ?? "", 10) || 0;
    throw new SearchFailure(kind, message, Math.max(0, retryAfter));
  }

  /** Return the body of a successful response; another server may have sent anything. */
  private async readBody<Body>(response: Response, check: (body: Body) => void): Promise<Body> {
    const text = await response.text();
    try {
      const body = JSON.parse(text) as Body;
      check(body);
      return body;
    } catch (error) {
      this.report(`What answers at ${this.base} is not Pertinent, or another version of it: ${error}`);
      throw new SearchFailure("unavailable", String(error));
    }
  }

  /** Tell the owners of the site what to check: in the console, and once, although each letter is a request. */
  private report(message: string): void {
    if (!this.reported.has(message)) console.error(message);
    this.reported.add(message);
  }
}

function checkSuggestions({ suggestions }: { suggestions: Suggestion[] }): void {
  for (const { title, section, url } of suggestions) checkTexts({ title, section, url });
}

function checkAnswer({ results }: Answer): void {
  for (const { snippet, highlights, metadata: { url, section, document_title } } of results) {
    checkTexts({ snippet, url, section, document_title });
    if (!Array.isArray(highlights)) throw new TypeError("highlights is not a list");
  }
}

/** Throw an error if one of the fields is not a text. */
function checkTexts(fields: Record<string, unknown>): void {
  for (const [name, text] of Object.entries(fields)) {
    if (typeof text !== "string") throw new TypeError(`${name} is not a text`);
  }
}
