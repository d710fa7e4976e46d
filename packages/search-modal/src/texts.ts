// Every text that a reader sees: texts.json has them in English, and a site replaces any. {name} is filled in.

import TEXTS from "./texts.json";

export type Texts = Record<keyof typeof TEXTS, string>;

/** Return all texts, with those that the site replaces. */
export function completeTexts(translations: Partial<Texts> = {}, placeholder?: string): Texts {
  const texts = { ...TEXTS, ...translations };
  return placeholder === undefined ? texts : { ...texts, placeholder };
}

/** Fill the names in braces of a text. */
export function fillText(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (braces, name: string) => String(values[name] ?? braces));
}

const LONGEST_QUERY = 80;

/** Return the beginning of a query, for a message that repeats it. */
export function shorten(query: string): string {
  const characters = Array.from(query);
  return characters.length > LONGEST_QUERY ? `${characters.slice(0, LONGEST_QUERY).join("")}…` : query;
}
