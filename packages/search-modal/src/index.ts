// Docusaurus compiles this code with Babel in loose mode, where `[...x]` works for arrays alone: use Array.from.

export { ICONS } from "./dom";
export { SearchModal } from "./modal";
export { isBelow, isInScope, type ColorTheme, type SearchOptions, type SearchScope } from "./options";
export { SearchResultsPage } from "./page";
export { getModifierName, listenToShortcuts } from "./shortcuts";
export { completeTexts, fillText, type Texts } from "./texts";
