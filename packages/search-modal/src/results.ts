// Rows of results: names, passages and recent searches. A row is a link where it leads to a page.

import { create, createIcon, ICONS } from "./dom";
import { appendName, appendSnippet } from "./highlight";
import type { Hit, Suggestion } from "./service";

/** What the service puts between the headings of a section. */
const SEPARATOR = " › ";
/** What stands before the path of a page that has the title of another one. */
const PATH_SEPARATOR = " · ";

/** A row that can be selected; its key stays the same while results change. */
export interface Row {
  key: string;
  element: HTMLElement;
}

/** Rows below a title. */
export interface RowGroup {
  title: string;
  rows: Row[];
}

/** Draw a row for each page or section. */
export function drawNames(suggestions: Suggestion[], query: string, getLink: (url: string) => string): Row[] {
  const paths = findPaths(suggestions.map(({ title, section, url }) => ({ label: `${title}\n${section}`, url })));
  return suggestions.map((suggestion, number) => {
    const headings = suggestion.section ? suggestion.section.split(SEPARATOR) : [];
    const name = create("span", { class: "name", dir: "auto" });
    appendName(name, headings.at(-1) ?? (suggestion.title || suggestion.url), query);
    const parents = headings.length ? [suggestion.title, ...headings.slice(0, -1)].filter(Boolean) : [];
    const row = drawLink(getLink(suggestion.url), suggestion.is_page ? ICONS.page : ICONS.section, name);
    const details = [parents.join(SEPARATOR), paths[number]].filter(Boolean).join(PATH_SEPARATOR);
    if (details) row.lastElementChild?.append(" ", create("span", { class: "path" }, details));
    return { key: `name ${suggestion.url}`, element: row };
  });
}

/** Draw the passages of each page; pages are ordered by their best passage. */
export function drawPages(hits: Hit[], query: string, getLink: (url: string) => string): RowGroup[] {
  const pages = new Map<string, Hit[]>();
  for (const hit of hits) {
    const page = hit.metadata.document_id || hit.metadata.url;
    pages.set(page, [...(pages.get(page) ?? []), hit]);
  }
  const groups = Array.from(pages.values());
  const titles = groups.map(([first]) => ({ label: first?.metadata.document_title ?? "", url: first?.metadata.url ?? "" }));
  const paths = findPaths(titles);
  return groups.map((passages, number) => ({
    title: [titles[number]?.label || titles[number]?.url, paths[number]].filter(Boolean).join(PATH_SEPARATOR),
    rows: passages.map((hit) => drawHit(hit, query, getLink)),
  }));
}

/** Return the path of each page whose label another page has, too; "" for the others. */
function findPaths(pages: { label: string; url: string }[]): string[] {
  return pages.map(({ label, url }) => {
    const isUnique = pages.filter((page) => page.label === label).length === 1;
    return isUnique || !label.trim() ? "" : decodePath(url);
  });
}

function decodePath(url: string): string {
  try {
    const { pathname, hash } = new URL(url);
    return decodeURI(pathname + hash);
  } catch {
    return url;
  }
}

function drawHit({ chunk_id, snippet, highlights, metadata }: Hit, query: string, getLink: (url: string) => string): Row {
  const path = create("span", { class: "name", dir: "auto" });
  appendName(path, metadata.section || metadata.document_title, query);
  const text = create("span", { class: "snippet", dir: "auto" });
  appendSnippet(text, snippet, highlights);
  const url = metadata.anchor ? `${metadata.url}#${metadata.anchor}` : metadata.url;
  const icon = metadata.section ? ICONS.section : ICONS.page;
  return { key: `passage ${chunk_id}`, element: drawLink(getLink(url), icon, path, " ", text) };
}

/** Draw a link with an icon. */
export function drawLink(link: string, icon: string, ...children: (Node | string)[]): HTMLAnchorElement {
  return create("a", { class: "row", href: link }, createIcon(icon), create("span", { class: "row-text" }, ...children));
}

/** Whether a link leads to a page; an address of the index could have any scheme. */
export function isPageLink(link: string): boolean {
  try {
    return ["http:", "https:", "file:"].includes(new URL(link, location.href).protocol);
  } catch {
    return false;
  }
}

/** Let the rows be seen, but not opened: they are for another query. */
export function disableRows(rows: Row[]): void {
  for (const { element } of rows) {
    element.setAttribute("aria-disabled", "true");
    element.addEventListener("click", (event) => event.preventDefault());
  }
}

/** Draw a recent search. */
export function drawRecent(query: string, onClick: () => void): Row {
  const element = create("div", { class: "row" }, createIcon(ICONS.recent), create("span", { class: "row-text" }, query));
  element.addEventListener("click", onClick);
  return { key: `recent ${query}`, element };
}
