// The search in a modal dialog, in a shadow tree: styles of the site don't reach it, its variables do.

import { create } from "./dom";
import type { ColorTheme, SearchOptions } from "./options";
import { SearchPanel } from "./panel";
import { attachStyles } from "./style";
import { completeTexts } from "./texts";

export class SearchModal {
  private readonly host = create("div", { "data-pertinent": "modal" });
  private readonly dialog: HTMLDialogElement;
  private readonly panel: SearchPanel;
  private readonly disconnect: () => void;
  private readonly scrolling = document.documentElement.style;
  /** What the page said about scrolling; null while it scrolls. */
  private earlierOverflow: string | null = null;

  constructor(options: SearchOptions) {
    const texts = completeTexts(options.translations);
    this.panel = new SearchPanel(options, { isPage: false, onClose: () => this.close() });
    this.dialog = create("dialog", { "aria-label": texts.dialog }, this.panel.element);
    // The backdrop belongs to the dialog, whose content fills it.
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.close());
    // Escape closes the dialog, too.
    this.dialog.addEventListener("close", () => this.restoreScrolling());
    this.dialog.addEventListener("keydown", (event) => this.keepFocus(event));
    attachStyles(this.host).append(this.dialog);
    this.attach();
    this.disconnect = this.panel.connect();
  }

  /** Use the colours of the system, or always light or dark ones. */
  setTheme(theme: ColorTheme): void {
    this.host.dataset["theme"] = theme;
  }

  /** Whether the modal is in the page; a router may have removed it. */
  get isConnected(): boolean {
    return this.host.isConnected;
  }

  /** Put the modal into the page, closed, unless it is there. */
  attach(): void {
    if (this.isConnected) return;
    this.close();
    document.body.append(this.host);
  }

  open(): void {
    if (this.dialog.open) return;
    this.dialog.showModal();
    this.earlierOverflow ??= this.scrolling.overflow;
    this.scrolling.overflow = "hidden";
    this.panel.input.focus();
    this.panel.refresh();
  }

  close(): void {
    this.dialog.close();
    this.restoreScrolling();
  }

  toggle(): void {
    if (this.dialog.open) this.close();
    else this.open();
  }

  /** Remove the modal from the page. */
  remove(): void {
    this.close();
    this.disconnect();
    this.host.remove();
  }

  /** Let the page scroll again, unless the dialog was opened again before the event that it was closed. */
  private restoreScrolling(): void {
    if (this.dialog.open || this.earlierOverflow === null) return;
    this.scrolling.overflow = this.earlierOverflow;
    this.earlierOverflow = null;
  }

  /** Keep the focus in the dialog: the browser would go on to its own buttons. */
  private keepFocus(event: KeyboardEvent): void {
    if (event.key !== "Tab") return;
    const focusable = Array.from(this.dialog.querySelectorAll<HTMLElement>("input, button, a[href]:not([tabindex='-1'])"))
      .filter((element) => !element.hidden);
    const [first, last] = [focusable[0], focusable.at(-1)];
    const focused = (this.dialog.getRootNode() as ShadowRoot).activeElement;
    if (focused !== (event.shiftKey ? first : last)) return;
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  }
}
