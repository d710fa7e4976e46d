// The pages of the reader's version and locale.

import ExecutionEnvironment from "@docusaurus/ExecutionEnvironment";
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

/** Return the scope of a search from the current page: one version of each docs, and the current locale. */
export function useScope(): SearchScope {
  const { siteConfig: { url, baseUrl }, i18n } = useDocusaurusContext();
  const docs = useAllDocsData();
  const active = useActivePluginAndVersion();
  const preferred = useDocsPreferredVersionByPluginId();
  const included = [url + baseUrl];
  const excluded = listOtherLocales(i18n, url, baseUrl);
  for (const [id, { versions }] of Object.entries(docs)) {
    const current = active?.activePlugin.pluginId === id ? active.activeVersion : undefined;
    const chosen = current ?? preferred[id] ?? versions.find((version) => version.isLast);
    for (const version of versions) {
      (version.name === chosen?.name ? included : excluded).push(url + version.path);
    }
  }
  const origins = listOrigins(url);
  const expand = (addresses: string[]) =>
    addresses.flatMap((address) => origins.map((origin) => address.replace(url, origin)));
  const scope = { excludedUrls: expand(excluded), includedUrls: expand(included) };
  // The service leaves out the other locales itself, if it has the pages of one origin.
  const canFilterByUrl = i18n.currentLocale !== i18n.defaultLocale && origins.length === 1;
  return canFilterByUrl ? { ...scope, url: url + baseUrl } : scope;
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
