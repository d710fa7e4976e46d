// The theme's part in Node: its components, its texts, the route of the page of results, and the check of its configuration.

import type { LoadContext, Plugin, SwizzleConfig, TranslationFileContent } from "@docusaurus/types";
import { type PertinentThemeConfig, TEXTS } from "./options";

export { validateThemeConfig } from "./options";
export type { PertinentThemeConfig } from "./options";

/** The texts of each locale are in `i18n/LOCALE/docusaurus-theme-pertinent/texts.json`. */
const TEXTS_FILE = "texts";

export default function themePertinent({ baseUrl, siteConfig }: LoadContext): Plugin<void> {
  return {
    name: "docusaurus-theme-pertinent",
    getThemePath: () => "../lib/theme",
    getTypeScriptThemePath: () => "../src/theme",
    getTranslationFiles: () => [{ path: TEXTS_FILE, content: listTexts(siteConfig.themeConfig["pertinent"] as PertinentThemeConfig) }],
    translateThemeConfig: ({ themeConfig, translationFiles }) => {
      const { content } = translationFiles.find(({ path }) => path === TEXTS_FILE)!;
      const translations = Object.fromEntries(Object.entries(content).map(([name, { message }]) => [name, message]));
      const { placeholder, ...options } = themeConfig["pertinent"] as PertinentThemeConfig;
      return { ...themeConfig, pertinent: { ...options, translations } };
    },
    async contentLoaded({ actions }) {
      actions.addRoute({ path: `${baseUrl}search`, component: "@theme/SearchPage", exact: true });
    },
  };
}

function listTexts({ translations, placeholder }: PertinentThemeConfig): TranslationFileContent {
  const texts = { ...TEXTS, ...translations, ...(placeholder && { placeholder }) };
  return Object.fromEntries(Object.entries(texts).map(([name, message]) => [name, { message }]));
}

/** Both components may be ejected and wrapped: what they import from `client` is the interface of this package. */
export function getSwizzleConfig(): SwizzleConfig {
  const actions = { eject: "safe", wrap: "safe" } as const;
  return {
    components: {
      SearchBar: { actions, description: "The button in the navbar that opens the search" },
      SearchPage: { actions, description: "The page with all results, at /search" },
    },
  };
}
