// The options of the search on a Docusaurus site: its configuration, its router, and the reader's version.

import { useMemo, useRef } from "react";
import { useHistory } from "@docusaurus/router";
import useDocusaurusContext from "@docusaurus/useDocusaurusContext";
import { completeTexts, type SearchOptions, type Texts } from "../search-modal/index";
import { useScope } from "./scope";

interface Configuration {
  url: string;
  apiKey?: string;
  contextual: boolean;
  placeholder?: string;
  translations: Record<string, string>;
}

function useConfiguration(): Configuration {
  return useDocusaurusContext().siteConfig.themeConfig["pertinent"] as Configuration;
}

/** Return the texts of the search, with the translations of the site. */
export function usePertinentTexts(): Texts {
  const { translations, placeholder } = useConfiguration();
  return completeTexts(translations, placeholder);
}

/**
 * Return the options of the search, inside of `Layout` only, which knows the reader's version. The object stays
 * the same while the reader goes from page to page.
 */
export function usePertinentOptions(): SearchOptions {
  const { siteConfig } = useDocusaurusContext();
  const { contextual, ...configuration } = useConfiguration();
  const history = useHistory();
  const scope = useScope();
  // The search asks for the scope when it needs it.
  const currentScope = useRef(scope);
  currentScope.current = scope;
  return useMemo(() => ({
    ...configuration,
    getScope: () => (contextual ? currentScope.current : {}),
    // Pages of this site are opened on the host that the reader is on, which may be a preview.
    getLink: (url) => (url.startsWith(`${siteConfig.url}/`) ? url.slice(siteConfig.url.length) : url),
    navigate: (link) => history.push(link),
    getSearchPageLink: (query) => `${siteConfig.baseUrl}search?${new URLSearchParams({ q: query })}`,
  }), []);
}
