// widget.js: the modal on any site, configured with the attributes of its script element.

import { create, createButton, createIcon, ICONS } from "./dom";
import { SearchModal } from "./modal";
import type { ColorTheme, SearchOptions, SearchScope } from "./options";
import { getModifierName, listenToShortcuts } from "./shortcuts";
import { attachStyles } from "./style";
import { completeTexts, type Texts } from "./texts";

const THEMES = ["auto", "light", "dark"];

/** A running search. */
interface Widget {
  script: HTMLScriptElement;
  remove: () => void;
}

declare global {
  interface Window {
    /** The widget of this page. */
    pertinentWidget?: Widget;
  }
}

/** Start the search, unless the page has one. */
function start(script: HTMLScriptElement): void {
  const earlier = window.pertinentWidget;
  // A router replaced the body that had its script.
  if (earlier && !earlier.script.isConnected) earlier.remove();
  removeClones();
  if (document.querySelector("[data-pertinent=modal]")) {
    reportMistake("this page has the search already, so this script does nothing.");
    return;
  }
  window.pertinentWidget = createWidget(script);
}

function createWidget(script: HTMLScriptElement): Widget {
  const { key, placeholder, target, theme = "auto" } = script.dataset;
  const scope = readScope(script.dataset["scope"]);
  if (!THEMES.includes(theme)) reportMistake(`data-theme must be one of ${THEMES.join(", ")}, not "${theme}".`);
  const options: SearchOptions = {
    url: script.dataset["url"] ?? new URL(".", script.src).href,
    ...(key && { apiKey: key }),
    ...(placeholder && { placeholder }),
    ...(scope && { getScope: () => scope }),
    translations: readTranslations(script.dataset["translations"]),
  };
  const modal = new SearchModal(options);
  modal.setTheme(theme as ColorTheme);
  const button = drawButton(completeTexts(options.translations), theme, () => modal.open());
  const findParent = () => target ? findElement(target) : null;
  if (target && !findParent()) reportMistake(`no element of this page matches data-target="${target}"; the button is in the corner.`);
  placeButton(button, findParent());
  const stopListening = listenToShortcuts(() => modal.toggle(), () => modal.open());
  // Routers replace the body, or what is in it, and know nothing of the search.
  const observer = new MutationObserver(() => {
    if (!document.body) return;
    const parent = findParent();
    const isPlaced = button.isConnected && (!parent || button.parentElement === parent);
    if (modal.isConnected && isPlaced) return;
    removeClones();
    modal.attach();
    if (!isPlaced) placeButton(button, parent);
  });
  observer.observe(document, { childList: true, subtree: true });
  const remove = () => {
    observer.disconnect();
    stopListening();
    modal.remove();
    button.remove();
  };
  return { script, remove };
}

/** Remove elements of the search that a router copied: a copy has no shadow tree. */
function removeClones(): void {
  for (const host of document.querySelectorAll("[data-pertinent]")) {
    if (!host.shadowRoot) host.remove();
  }
}

/** Put the button into an element, or into the corner of the page. */
function placeButton(button: HTMLElement, parent: Element | null): void {
  button.shadowRoot?.querySelector("button")?.classList.toggle("floating", !parent);
  (parent ?? document.body).append(button);
}

function findElement(selector: string): Element | null {
  try {
    return document.querySelector(selector);
  } catch {
    return null; // it is not a selector
  }
}

function readScope(address: string | undefined): SearchScope | undefined {
  if (!address) return undefined;
  try {
    return { url: new URL(address, location.href).href };
  } catch {
    reportMistake(`data-scope must be an address, not "${address}".`);
    return undefined;
  }
}

function readTranslations(json: string | undefined): Partial<Texts> {
  if (!json) return {};
  try {
    const entries = Object.entries(JSON.parse(json) as object);
    const mistakes = entries.filter(([, text]) => typeof text !== "string").map(([name]) => name);
    if (mistakes.length) reportMistake(`data-translations must be a JSON object of texts: ${mistakes.join(", ")} is none.`);
    return Object.fromEntries(entries.filter(([, text]) => typeof text === "string")) as Partial<Texts>;
  } catch {
    reportMistake("data-translations must be a JSON object of texts.");
    return {};
  }
}

function drawButton(texts: Texts, theme: string, onClick: () => void): HTMLElement {
  const host = create("div", { "data-pertinent": "button", "data-theme": theme });
  const keys = create("kbd", { "aria-hidden": "true" }, `${getModifierName()} K`);
  attachStyles(host).append(createButton(
    { class: "open-button", "aria-keyshortcuts": "Control+K Meta+K" },
    onClick, createIcon(ICONS.search), create("span", {}, texts.button), keys));
  return host;
}

function reportMistake(message: string): void {
  console.error(`Pertinent's widget: ${message}`);
}

const script = document.currentScript;
if (!(script instanceof HTMLScriptElement)) {
  reportMistake('load it with <script src="…/widget.js" defer>, without type="module".');
} else if (document.readyState === "loading") {
  document.addEventListener("DOMContentLoaded", () => start(script));
} else {
  start(script);
}
