// The pages of the reader's version and locale.

import {
  useActivePluginAndVersion, useAllDocsData, useDocsPreferredVersionByPluginId,
} from "@docusaurus/plugin-content-docs/client";
import useDocusaurusContext from "@docusaurus/useDocusaurusContext";
import type { SearchScope } from "../search-modal/index";

/** Return the scope of a search from the current page: one version of each docs, and the current locale. */
export function useScope(): SearchScope {
  const { siteConfig: { url, baseUrl }, i18n } = useDocusaurusContext();
  const docs = useAllDocsData();
  const active = useActivePluginAndVersion();
  const preferred = useDocsPreferredVersionByPluginId();
  const included: string[] = [];
  const excluded: string[] = [];
  for (const [id, { versions }] of Object.entries(docs)) {
    const current = active?.activePlugin.pluginId === id ? active.activeVersion : undefined;
    const chosen = current ?? preferred[id] ?? versions.find((version) => version.isLast);
    for (const version of versions) {
      (version.name === chosen?.name ? included : excluded).push(url + version.path);
    }
  }
  if (i18n.currentLocale !== i18n.defaultLocale) {
    return { url: url + baseUrl, excludedUrls: excluded, includedUrls: included };
  }
  // Other locales are below the address of the default one.
  const locales = i18n.locales.filter((locale) => locale !== i18n.defaultLocale);
  const excludedUrls = [...excluded, ...locales.map((locale) => `${url}${baseUrl}${locale}`)];
  return { excludedUrls, includedUrls: included };
}
