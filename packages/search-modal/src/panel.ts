// The search box with its results: in the modal an ARIA combobox with a listbox, on a page a list of links.

import { create, createButton, createIcon, ICONS } from "./dom";
import type { SearchOptions } from "./options";
import { RecentSearches } from "./recent";
import { disableRows, drawLink, drawNames, drawPages, drawRecent, isPageLink, type Row, type RowGroup } from "./results";
import { type Answer, SearchFailure, SearchService, type Suggestion } from "./service";
import { completeTexts, fillText, shorten, type Texts } from "./texts";

/** Passages are searched after this pause in typing; names at once. */
const TYPING_PAUSE_MS = 150;
const MODAL_COUNTS = { names: 5, passages: 15 };
const PAGE_COUNTS = { names: 5, passages: 50 };
const LONGEST_WAIT_S = 60;

export interface PanelSettings {
  /** Whether the panel is a page of its own; if not, it is in the modal. */
  isPage: boolean;
  /** Called when a result was opened, or with the button to close. */
  onClose?: () => void;
  /** Called with what has been typed. */
  onQuery?: (query: string) => void;
}

export class SearchPanel {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly texts: Texts;
  private readonly service: SearchService;
  private readonly recent: RecentSearches;
  private readonly clearButton: HTMLButtonElement;
  private readonly messages = create("div", { class: "messages" });
  private readonly list: HTMLElement;
  private readonly after = create("div", { class: "after" });
  private readonly status = create("div", { class: "hidden-text", role: "status" });

  private query = "";
  private suggestions: Suggestion[] = [];
  private answer: Answer | null = null;
  /** The queries that the suggestions and the answer are for; while the next ones are loaded, these are stale. */
  private suggestedQuery = "";
  private answeredQuery = "";
  private failure: SearchFailure | null = null;
  /** Whether words are searched as they were typed. */
  private isExact = false;
  private rows: Row[] = [];
  /** The row that the reader selected with a key; without one, the first row is selected. */
  private selectedKey = "";
  /** Aborts the running requests. */
  private running = new AbortController();
  private timer = 0;

  constructor(private readonly options: SearchOptions, private readonly settings: PanelSettings) {
    this.texts = completeTexts(options.translations, options.placeholder);
    this.service = new SearchService(options.url, options.apiKey);
    this.recent = new RecentSearches(options.url);
    this.input = this.drawInput();
    this.clearButton = createButton({ class: "icon-button", "aria-label": this.texts.clear }, () => {
      this.setQuery("");
      this.input.focus();
    }, createIcon(ICONS.close));
    this.list = create("div", settings.isPage
      ? { class: "list" }
      : { class: "list", id: "list", role: "listbox", "aria-label": this.texts.results });
    // A click on a row must not take the focus from the search box.
    if (!settings.isPage) this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.element = create("div", { class: settings.isPage ? "panel page" : "panel" },
      this.drawBar(), this.messages, this.list, this.after, this.status, !settings.isPage && this.drawKeys());
    this.render();
  }

  /** Listen to the connection; the result stops listening and all requests. */
  connect(): () => void {
    const search = () => this.failure && this.search();
    addEventListener("online", search);
    return () => {
      removeEventListener("online", search);
      this.stop();
    };
  }

  /** Search for a text, as if it had been typed. */
  setQuery(query: string): void {
    this.input.value = query;
    this.changeQuery(query);
  }

  /** Draw the recent searches again, and select what was typed before; if its search failed, search again. */
  refresh(): void {
    this.input.select();
    if (this.failure) this.search();
    this.render();
  }

  // ── input ──────────────────────────────────────────────────────────────

  private drawInput(): HTMLInputElement {
    const input = create("input", {
      type: "text", class: "input", "aria-label": this.texts.placeholder, placeholder: this.texts.placeholder,
      autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "search", maxlength: "500",
      ...(!this.settings.isPage && { role: "combobox", "aria-autocomplete": "list", "aria-controls": "list" }),
    });
    input.addEventListener("input", () => this.changeQuery(input.value));
    input.addEventListener("keydown", (event) => this.handleKey(event));
    return input;
  }

  private drawBar(): HTMLElement {
    const { onClose } = this.settings;
    const close = onClose && createButton({ class: "close-button" }, onClose, this.texts.close);
    return create("div", { class: "bar" }, createIcon(ICONS.search), this.input, this.clearButton, close);
  }

  private drawKeys(): HTMLElement {
    const { keySelect, keyOpen, keyClose } = this.texts;
    const drawKey = (key: string, text: string) => create("span", {}, create("kbd", {}, key), " ", text);
    return create("div", { class: "keys", "aria-hidden": "true" },
      drawKey("↑↓", keySelect), drawKey("↵", keyOpen), drawKey("Esc", keyClose));
  }

  private changeQuery(query: string): void {
    this.query = query.trim();
    this.isExact = false;
    this.selectedKey = "";
    this.stop();
    this.settings.onQuery?.(this.query);
    if (this.query) {
      void this.loadNames();
      this.timer = window.setTimeout(() => this.loadPassages(), TYPING_PAUSE_MS);
    } else {
      this.suggestions = [];
      this.answer = null;
      this.failure = null;
    }
    this.render();
  }

  private search(): void {
    this.stop();
    void this.loadNames();
    void this.loadPassages();
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.running.abort();
    this.running = new AbortController();
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.isComposing || this.settings.isPage) return;
    const count = this.rows.length;
    const selected = this.findSelected();
    if (event.key === "ArrowDown" && count) this.select((selected + 1) % count);
    else if (event.key === "ArrowUp" && count) this.select((selected + count - 1) % count);
    else if (event.key === "Enter" && count) {
      const { ctrlKey, metaKey } = event;
      const click = new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey });
      this.rows[selected]?.element.dispatchEvent(click);
    } else return;
    event.preventDefault();
  }

  private findSelected(): number {
    return Math.max(0, this.rows.findIndex((row) => row.key === this.selectedKey));
  }

  private select(position: number): void {
    this.selectedKey = this.rows[position]?.key ?? "";
    this.markSelected();
    this.rows[position]?.element.scrollIntoView({ block: "nearest" });
  }

  private markSelected(): void {
    if (this.settings.isPage) return;
    const selected = this.findSelected();
    this.rows.forEach((row, number) => row.element.setAttribute("aria-selected", String(number === selected)));
    const option = this.rows[selected]?.element;
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  // ── requests ───────────────────────────────────────────────────────────

  private get counts(): typeof MODAL_COUNTS {
    return this.settings.isPage ? PAGE_COUNTS : MODAL_COUNTS;
  }

  private async loadNames(): Promise<void> {
    const { signal } = this.running;
    const scope = this.options.getScope?.() ?? {};
    // If the names can't be loaded, the passages say why.
    const suggestions = await this.service.suggest(this.query, this.counts.names, scope, signal).catch(() => []);
    if (signal.aborted) return;
    this.suggestions = suggestions;
    this.suggestedQuery = this.query;
    this.render();
  }

  private async loadPassages(): Promise<void> {
    const { signal } = this.running;
    const scope = this.options.getScope?.() ?? {};
    try {
      const answer = await this.service.search(this.query, this.counts.passages, !this.isExact, scope, signal);
      if (signal.aborted) return;
      this.answer = answer;
      this.answeredQuery = this.query;
      this.failure = null;
    } catch (error) {
      if (signal.aborted) return;
      this.answer = null;
      this.failure = error instanceof SearchFailure ? error : new SearchFailure("failed", String(error));
      if (this.failure.kind === "rateLimited") {
        const wait = Math.min(this.failure.retryAfter || 1, LONGEST_WAIT_S);
        // In a closed modal, nobody waits for the results.
        this.timer = window.setTimeout(() => this.element.checkVisibility() && this.search(), wait * 1000);
      }
    }
    this.render();
    this.status.textContent = this.describeResults();
  }

  // ── output ─────────────────────────────────────────────────────────────

  private render(): void {
    const groups = this.query ? this.drawResults() : this.drawRecents();
    this.rows = groups.flatMap((group) => group.rows);
    this.list.replaceChildren(...groups.filter((group) => group.rows.length).map((group, n) => this.drawGroup(group, n)));
    this.list.hidden = !this.rows.length;
    this.messages.replaceChildren(...this.drawMessages());
    this.after.replaceChildren(...(!this.query && this.rows.length ? [this.drawClearRecent()] : []));
    this.clearButton.hidden = !this.query;
    if (!this.settings.isPage) this.input.setAttribute("aria-expanded", String(this.rows.length > 0));
    this.markSelected();
    if (!this.selectedKey) this.list.scrollTop = 0;
  }

  private drawResults(): RowGroup[] {
    const getLink = this.options.getLink ?? ((url: string) => url);
    const hasPage = (url: string) => isPageLink(getLink(url));
    const names = drawNames(this.suggestions.filter(({ url }) => hasPage(url)), this.query, getLink);
    const hits = (this.answer?.results ?? []).filter(({ metadata }) => hasPage(metadata.url));
    const searched = this.answer?.searched_for ?? this.query;
    const pages = drawPages(hits, searched, getLink);
    if (this.suggestedQuery !== this.query) disableRows(names);
    if (this.answeredQuery !== this.query) disableRows(pages.flatMap((page) => page.rows));
    const groups = [{ title: this.texts.names, rows: names }, ...pages];
    const { getSearchPageLink } = this.options;
    if (getSearchPageLink && hits.length && !this.settings.isPage) {
      const text = fillText(this.texts.seeAll, { query: shorten(this.query) });
      const element = drawLink(getSearchPageLink(this.query), ICONS.all, text);
      groups.push({ title: "", rows: [{ key: "all", element }] });
    }
    for (const { element } of groups.flatMap((group) => group.rows)) {
      element.addEventListener("click", (event) => this.open(event, element.getAttribute("href") ?? ""));
    }
    return groups;
  }

  /** Open a result: within the site if it can, else as the browser does. */
  private open(event: MouseEvent, link: string): void {
    if (event.defaultPrevented) return;
    this.recent.add(this.query);
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    if (this.options.navigate?.(link)) event.preventDefault();
    this.settings.onClose?.();
  }

  private drawRecents(): RowGroup[] {
    if (this.settings.isPage) return [];
    const rows = this.recent.list().map((query) => drawRecent(query, () => this.setQuery(query)));
    return [{ title: this.texts.recent, rows }];
  }

  private drawClearRecent(): HTMLElement {
    return createButton({ class: "text-button" }, () => {
      this.recent.clear();
      this.render();
      this.input.focus();
    }, this.texts.clearRecent);
  }

  private drawGroup({ title, rows }: RowGroup, number: number): HTMLElement {
    const { isPage } = this.settings;
    rows.forEach(({ element }, position) => {
      if (isPage) return;
      element.id = `row-${number}-${position}`;
      element.setAttribute("role", "option");
      element.tabIndex = -1;
    });
    const elements = rows.map((row) => row.element);
    if (!title) return create("div", { class: "group", ...(!isPage && { role: "presentation" }) }, ...elements);
    const id = `group-${number}`;
    const heading = isPage
      ? create("h2", { class: "group-title", dir: "auto", id }, title)
      : create("div", { class: "group-title", dir: "auto", id, role: "presentation" }, title);
    const group = { class: "group", ...(!isPage && { role: "group", "aria-labelledby": id }) };
    return create("div", group, heading, ...elements);
  }

  private drawMessages(): HTMLElement[] {
    const { texts, query, answer, failure } = this;
    const draw = (...children: (Node | string | false)[]) => create("p", { class: "message" }, ...children);
    if (failure) return [this.drawFailure(failure)];
    if (!query) return this.rows.length || this.settings.isPage ? [] : [draw(texts.hint)];
    const messages: HTMLElement[] = [];
    if (answer?.corrected) {
      const searchExactly = createButton({ class: "text-button" }, () => {
        this.isExact = true;
        this.search();
        this.input.focus();
      }, fillText(texts.searchExactly, { query: shorten(query) }));
      messages.push(draw(fillText(texts.corrected, { query: shorten(answer.searched_for) }), " ", searchExactly));
    }
    if (answer?.status === "partial") messages.push(draw(texts.partial));
    const isNothing = answer && this.answeredQuery === query && !this.rows.length;
    if (isNothing) messages.push(draw(fillText(texts.nothing, { query: shorten(query) }), " ", texts.nothingAdvice));
    return messages;
  }

  private drawFailure({ kind, retryAfter }: SearchFailure): HTMLElement {
    const text = fillText(this.texts[kind], { seconds: retryAfter || 1 });
    const retry = createButton({ class: "text-button" }, () => {
      this.search();
      this.input.focus();
    }, this.texts.retry);
    return create("p", { class: "message failure", role: "alert" }, text, " ", kind !== "refused" && retry);
  }

  /** Return what a screen reader says after a search. */
  private describeResults(): string {
    const count = this.answer?.results.length;
    if (!count) return "";
    return count === 1 ? this.texts.oneResult : fillText(this.texts.resultCount, { count });
  }
}
