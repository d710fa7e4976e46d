// The options of the search on a Docusaurus site: its configuration, its router, and the reader's version.

import { useMemo, useRef } from "react";
import { useHistory } from "@docusaurus/router";
import useDocusaurusContext from "@docusaurus/useDocusaurusContext";
import { applyTrailingSlash } from "@docusaurus/utils-common";
import { completeTexts, type SearchOptions, type Texts } from "../search-modal/index";
import { isRoute } from "./routes";
import { listOrigins, useReaderContext } from "./scope";

interface Configuration {
  url: string;
  apiKey?: string;
  contextual: boolean;
  placeholder?: string;
  /** Texts in the reader's language; English is used for those that are missing. */
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
  const { siteConfig: { url: siteUrl, baseUrl, trailingSlash } } = useDocusaurusContext();
  const { contextual, ...configuration } = useConfiguration();
  const history = useHistory();
  const context = useReaderContext();
  // The search asks for the context when it needs it.
  const reader = useRef(context);
  reader.current = context;
  return useMemo(() => {
    const makeLink = (path: string) => applyTrailingSlash(path, { trailingSlash, baseUrl });
    return {
      ...configuration,
      getScope: () => (contextual ? reader.current.scope : {}),
      // Pages of this site are opened on the host that the reader is on, which may be a preview.
      getLink: (url) => {
        const origin = listOrigins(siteUrl).find((candidate) => url.startsWith(`${candidate}/`));
        if (origin === undefined) return url;
        // A path that begins with two slashes would lead to another host.
        const path = url.slice(origin.length).replace(/^\/+/, "/");
        return isRoute(path) ? makeLink(path) : path;
      },
      navigate: (link) => {
        const isOwnPage = isRoute(link);
        if (isOwnPage) history.push(link);
        return isOwnPage;
      },
      getSearchPageLink: (query) => {
        const parameters = new URLSearchParams({ q: query, ...(contextual && reader.current.parameters) });
        return makeLink(`${baseUrl}search?${parameters}`);
      },
    };
  }, []);
}
