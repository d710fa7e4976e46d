// What a site says about its search.

import type { Texts } from "./texts";

export type ColorTheme = "auto" | "light" | "dark";

/** Which pages are searched. */
export interface SearchScope {
  /** Only pages below this address. */
  url?: string;
  /** No pages below these addresses, … */
  excludedUrls?: string[];
  /** … unless they are below one of these, which is longer. */
  includedUrls?: string[];
}

export interface SearchOptions {
  /** The address of the Pertinent service. */
  url: string;
  /** A public key of the service: `public_keys`. */
  apiKey?: string;
  placeholder?: string;
  translations?: Partial<Texts>;
  /** The pages that are searched now, such as those of one version. */
  getScope?: () => SearchScope;
  /** Return the link to an address of the index; sites with several hosts change it. */
  getLink?: (url: string) => string;
  /** Open a link without loading a page; false if the browser must open it. */
  navigate?: (link: string) => boolean;
  /** Return the link to a page with all results. */
  getSearchPageLink?: (query: string) => string;
}

/** Whether an address is that of a page, or below it. */
export function isBelow(url: string, parent: string): boolean {
  const prefix = parent.replace(/\/+$/, "");
  return url.startsWith(prefix) && /^([/?#]|$)/.test(url.slice(prefix.length));
}

/** Whether a page is searched: the longest address that it is below decides, and an excluded one before an included one. */
export function isInScope(url: string, { url: parent, excludedUrls = [], includedUrls = [] }: SearchScope): boolean {
  if (parent && !isBelow(url, parent)) return false;
  const excluded = measureMatch(url, excludedUrls);
  return excluded === 0 || excluded < measureMatch(url, includedUrls);
}

/** Return the length of the longest address that a page is below; 0 without one. */
function measureMatch(url: string, parents: string[]): number {
  return Math.max(0, ...parents.filter((parent) => isBelow(url, parent)).map((parent) => parent.replace(/\/+$/, "").length));
}
