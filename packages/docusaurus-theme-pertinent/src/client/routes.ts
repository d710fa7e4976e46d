// The pages of this build. Other locales, and other sites of the same host, have builds of their own.

import routes from "@generated/routes";

interface Route {
  path?: string | string[] | readonly string[];
  routes?: Route[];
}

const PATHS = new Set(listPaths(routes).map(normalizePath));

/** Whether the router of this build has the page of a link. */
export function isRoute(link: string): boolean {
  return PATHS.has(normalizePath(link));
}

/** Return the paths of all pages; routes that have further ones are layouts. */
function listPaths(branches: Route[]): string[] {
  return branches.flatMap(({ path, routes: children }) => (children ? listPaths(children) : [path ?? []].flat()));
}

/** Return the path of a link, decoded, and without a slash at its end. */
function normalizePath(link: string): string {
  const path = link.replace(/[?#].*/s, "").replace(/\/+$/, "");
  try {
    return decodeURI(path);
  } catch {
    return path; // it has a percent sign that encodes nothing
  }
}
