// The suggestions below the search box: pages and sections by their name, as an ARIA combobox with a listbox.

import * as api from "./api.js";
import { getLink } from "./citation.js";
import { announce, create } from "./dom.js";
import { appendHighlighted, buildPrefixPattern } from "./highlight.js";
import { shortenUrl } from "./results.js";

const MAX_SUGGESTIONS = 6;

/** Connect the search box with its list; the result updates and closes the list, and handles its keys. */
export function attachSuggestions(searchBox, list) {
  /** The AbortController of the running request. */
  let running = null;
  /** The position of the selected suggestion; -1 if the reader is in the search box. */
  let selected = -1;

  /** Show the suggestions for a text. The old ones stay until the new ones are there. */
  async function update(text) {
    running?.abort();
    if (!text.trim()) {
      close();
      return;
    }
    const controller = new AbortController();
    running = controller;
    try {
      const suggestions = await api.suggest(text, MAX_SUGGESTIONS, controller.signal);
      if (!controller.signal.aborted) show(suggestions, text);
    } catch {
      // The passages of the same text say what is wrong.
      if (!controller.signal.aborted) close();
    }
  }

  function show(suggestions, text) {
    const links = suggestions.filter(getLink);
    if (!links.length) {
      close();
      return;
    }
    const pattern = buildPrefixPattern(text);
    list.replaceChildren(...links.map((suggestion, number) => drawSuggestion(suggestion, number, pattern)));
    if (list.hidden) announce(`${links.length === 1 ? "1 suggestion" : `${links.length} suggestions`}, with the arrow keys.`);
    list.hidden = false;
    searchBox.setAttribute("aria-expanded", "true");
    select(-1);
  }

  function close() {
    running?.abort();
    list.hidden = true;
    list.replaceChildren();
    searchBox.setAttribute("aria-expanded", "false");
    select(-1);
  }

  function select(position) {
    selected = position;
    [...list.children].forEach((option, number) => option.setAttribute("aria-selected", String(number === selected)));
    const option = list.children[selected];
    if (option) {
      searchBox.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      searchBox.removeAttribute("aria-activedescendant");
    }
  }

  /** Return what a key in the search box does to the open list; null if it is not for the list. */
  function findAction(key) {
    const count = list.children.length;
    if (list.hidden) return null;
    if (key === "Escape") return close;
    if (key === "ArrowDown" && selected < count - 1) return () => select(selected + 1);
    if (key === "ArrowUp" && selected >= 0) return () => select(selected - 1);
    if (key === "Enter" && selected >= 0) return () => list.children[selected].click();
    return null;
  }

  // A click on a suggestion must not take the focus from the search box, which would close the list.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  searchBox.addEventListener("blur", close);
  return { update, close, findAction };
}

function drawSuggestion(suggestion, number, pattern) {
  const headings = suggestion.section.split(" › ");
  const name = create("span", { class: "suggestion-name" });
  appendHighlighted(name, (suggestion.is_page ? suggestion.title : headings.at(-1)) || suggestion.url, pattern);
  const breadcrumb = [suggestion.title, ...headings.slice(0, -1)].filter(Boolean).join(" › ");
  return create("a", { class: "suggestion", role: "option", id: `suggestion-${number}`, href: suggestion.url,
    rel: "noopener noreferrer", tabIndex: -1, "aria-selected": "false" },
  name, " ", create("span", { class: "suggestion-location" }, suggestion.is_page ? shortenUrl(suggestion.url) : breadcrumb));
}
