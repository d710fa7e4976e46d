// The theme's part in Node: its components, the route of the page of results, and the check of its configuration.

import type { LoadContext, Plugin, SwizzleConfig } from "@docusaurus/types";

export { validateThemeConfig } from "./options";
export type { PertinentThemeConfig } from "./options";

export default function themePertinent({ baseUrl }: LoadContext): Plugin<void> {
  return {
    name: "docusaurus-theme-pertinent",
    getThemePath: () => "../lib/theme",
    getTypeScriptThemePath: () => "../src/theme",
    async contentLoaded({ actions }) {
      actions.addRoute({ path: `${baseUrl}search`, component: "@theme/SearchPage", exact: true });
    },
  };
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
