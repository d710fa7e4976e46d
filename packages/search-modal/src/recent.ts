// The reader's recent searches, in this browser alone.

const MAX_RECENT = 5;

export class RecentSearches {
  private readonly key: string;

  constructor(url: string) {
    this.key = `pertinent-recent ${url}`;
  }

  /** Return the recent searches, the last one first; none if the browser keeps nothing. */
  list(): string[] {
    try {
      const queries: unknown = JSON.parse(localStorage.getItem(this.key) ?? "[]");
      return Array.isArray(queries) ? queries.filter((query) => typeof query === "string").slice(0, MAX_RECENT) : [];
    } catch {
      return [];
    }
  }

  add(query: string): void {
    if (query) this.store([query, ...this.list().filter((earlier) => earlier !== query)].slice(0, MAX_RECENT));
  }

  clear(): void {
    this.store([]);
  }

  private store(queries: string[]): void {
    try {
      localStorage.setItem(this.key, JSON.stringify(queries));
    } catch {
      // Storage is full or forbidden: recent searches are a convenience.
    }
  }
}
