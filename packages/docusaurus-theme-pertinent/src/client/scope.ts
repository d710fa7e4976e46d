// The pages of the reader's version and locale.

import ExecutionEnvironment from "@docusaurus/ExecutionEnvironment";
import { useLocation } from "@docusaurus/router";
import {
  useActivePluginAndVersion, useAllDocsData, useDocsPreferredVersionByPluginId,
} from "@docusaurus/plugin-content-docs/client";
import type { I18n } from "@docusaurus/types";
import useDocusaurusContext from "@docusaurus/useDocusaurusContext";
import type { SearchScope } from "../search-modal/index";

/** Return the origins of this site: its public one, and the one that the reader is on, which may be a preview. */
export function listOrigins(url: string): string[] {
  return ExecutionEnvironment.canUseDOM && location.origin !== url ? [url, location.origin] : [url];
}

/** What a search from the current page is about. */
export interface ReaderContext {
  /** One version of each docs, and the current locale. */
  scope: SearchScope;
  /** The parameters that tell the search page the reader's version; none if it is the one that it would choose. */
  parameters: { version?: string };
}

/** Return the reader's version and locale: of the page that is read, or of the address of the search page. */
export function useReaderContext(): ReaderContext {
  const { siteConfig: { url, baseUrl }, i18n } = useDocusaurusContext();
  const docs = useAllDocsData();
  const active = useActivePluginAndVersion();
  const preferred = useDocsPreferredVersionByPluginId();
  const requestedTag = new URLSearchParams(useLocation().search).get("version");
  const included = [url + baseUrl];
  const excluded = listOtherLocales(i18n, url, baseUrl);
  const parameters: ReaderContext["parameters"] = {};
  for (const [id, { versions }] of Object.entries(docs)) {
    // Docusaurus gives the pages of a version this tag, for searches.
    const getTag = (version: { name: string }) => `docs-${id}-${version.name}`;
    const current = active?.activePlugin.pluginId === id
      ? active.activeVersion
      : versions.find((version) => getTag(version) === requestedTag);
    const defaultVersion = preferred[id] ?? versions.find((version) => version.isLast);
    const searchedVersion = current ?? defaultVersion;
    if (searchedVersion && searchedVersion.name !== defaultVersion?.name) parameters.version = getTag(searchedVersion);
    for (const version of versions) {
      (version.name === searchedVersion?.name ? included : excluded).push(url + version.path);
    }
  }
  const origins = listOrigins(url);
  const expand = (addresses: string[]) =>
    addresses.flatMap((address) => origins.map((origin) => address.replace(url, origin)));
  const scope = { excludedUrls: expand(excluded), includedUrls: expand(included) };
  // The service leaves out the other locales itself, if it has the pages of one origin.
  const canFilterByUrl = i18n.currentLocale !== i18n.defaultLocale && origins.length === 1;
  return { scope: canFilterByUrl ? { ...scope, url: url + baseUrl } : scope, parameters };
}

/** Return the addresses of all locales but the current one. */
function listOtherLocales({ currentLocale, defaultLocale, locales, localeConfigs }: I18n, url: string, baseUrl: string): string[] {
  const suffix = `${currentLocale}/`;
  const root = currentLocale !== defaultLocale && baseUrl.endsWith(`/${suffix}`) ? baseUrl.slice(0, -suffix.length) : baseUrl;
  return locales.filter((locale) => locale !== currentLocale).map((locale) => {
    // Docusaurus knows the addresses of locales since 3.9.
    const configured: { url?: string; baseUrl?: string } = localeConfigs[locale] ?? {};
    const path = locale === defaultLocale ? root : `${root}${locale}/`;
    return (configured.url ?? url) + (configured.baseUrl ?? path);
  });
}
