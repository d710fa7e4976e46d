// The search as a part of a page, for a page of results.

import { create } from "./dom";
import type { ColorTheme, SearchOptions } from "./options";
import { SearchPanel } from "./panel";
import { attachStyles } from "./style";

export class SearchResultsPage {
  private readonly host = create("div", { "data-pertinent": "page" });
  private readonly panel: SearchPanel;
  private readonly disconnect: () => void;

  /** Draw the search into an element; `onQuery` is called with what has been typed. */
  constructor(parent: HTMLElement, options: SearchOptions, onQuery: (query: string) => void) {
    this.panel = new SearchPanel(options, { isPage: true, onQuery });
    attachStyles(this.host).append(this.panel.element);
    parent.append(this.host);
    this.disconnect = this.panel.connect();
  }

  setTheme(theme: ColorTheme): void {
    this.host.dataset["theme"] = theme;
  }

  /** Search for a text, unless it is what has been typed. */
  setQuery(query: string): void {
    if (query !== this.panel.input.value.trim()) this.panel.setQuery(query);
  }

  focus(): void {
    this.panel.input.focus();
  }

  remove(): void {
    this.disconnect();
    this.host.remove();
  }
}
