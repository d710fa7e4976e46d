// The styles of the search, as a constructed sheet: content security policies need no exception for it.
// Rules of the site for any element, such as `* { color: … }`, would win over those of :host that are not important.
// Colours come from --pertinent-… variables of the site, or from those of Infima, which Docusaurus has.

const CSS = `
:host {
  all: initial !important;
  color-scheme: light dark !important;
  --background: var(--pertinent-background, var(--ifm-background-surface-color, light-dark(#fff, #1f2023)));
  --text: var(--pertinent-text, var(--ifm-font-color-base, light-dark(#1c1e21, #e6e7ea)));
  --muted: var(--pertinent-muted, var(--ifm-color-emphasis-700, light-dark(#5b626b, #b4bac2)));
  --line: var(--pertinent-line, var(--ifm-color-emphasis-300, light-dark(#d5d9de, #43474d)));
  --selected: var(--pertinent-selected, var(--ifm-color-emphasis-200, light-dark(#eceff3, #33373d)));
  --accent: var(--pertinent-accent, var(--ifm-color-primary, light-dark(#2d62c9, #7ea6f5)));
  --radius: var(--ifm-global-radius, 6px);
  font: 16px/1.45 var(--pertinent-font, var(--ifm-font-family-base, system-ui, sans-serif)) !important;
  color: var(--text) !important;
  display: block !important;
}
:host([data-theme="light"]) { color-scheme: light !important; }
:host([data-theme="dark"]) { color-scheme: dark !important; }
:host([data-pertinent="button"]) { display: inline-block !important; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
dialog {
  color: inherit; background: none; border: 0; padding: 0; margin: 10vh auto auto;
  width: min(44em, 100vw - 2em); max-width: none; max-height: 80vh; overflow: visible;
}
dialog::backdrop { background: rgb(0 0 0 / 50%); }
.panel { display: flex; flex-direction: column; max-height: 80vh; background: var(--background);
  border: 1px solid var(--line); border-radius: calc(var(--radius) * 2); overflow: hidden;
  box-shadow: 0 12px 40px rgb(0 0 0 / 30%); }
.panel.page { max-height: none; background: none; border: 0; box-shadow: none; overflow: visible; }
.bar { display: flex; align-items: center; gap: .6em; padding: .5em .9em; border-bottom: 2px solid var(--line); }
.bar:focus-within { border-bottom-color: var(--accent); }
.page .bar { border: 2px solid var(--line); border-radius: var(--radius); }
.page .bar:focus-within { border-color: var(--accent); }
svg { flex: none; width: 1.2em; height: 1.2em; fill: none; stroke: var(--muted); stroke-width: 1.8;
  stroke-linecap: round; stroke-linejoin: round; }
.input { flex: 1; min-width: 0; border: 0; outline: 0; background: none; color: inherit; font: inherit;
  font-size: 1.1em; padding: .35em 0; }
.input::placeholder { color: var(--muted); opacity: 1; }
button { font: inherit; color: inherit; cursor: pointer; }
.icon-button, .close-button, .text-button { background: none; border: 0; border-radius: var(--radius); padding: .3em; }
.icon-button { display: flex; }
.close-button { font-size: .85em; color: var(--muted); border: 1px solid var(--line); padding: .2em .6em; }
.text-button { text-decoration: underline; text-underline-offset: .2em; padding: .1em .2em; }
button:focus-visible, .page .row:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.message { margin: 0; padding: .9em 1em; color: var(--muted); }
.message.failure { color: var(--text); }
.list { overflow-y: auto; padding: .4em .6em .6em; overscroll-behavior: contain; }
.page .list { overflow: visible; padding-inline: 0; }
.group-title { font-size: .85em; font-weight: 600; color: var(--muted); margin: 0; padding: .7em .6em .3em; }
.page .group-title { font-size: 1.1em; color: var(--text); padding-inline: 0; margin-top: .6em; }
.row { display: flex; gap: .7em; align-items: flex-start; padding: .5em .6em; border-radius: var(--radius);
  border-inline-start: 3px solid transparent; color: inherit; text-decoration: none; cursor: pointer; }
.row:hover { background: var(--selected); }
.row[aria-selected="true"] { background: var(--selected); border-inline-start-color: var(--accent); }
/* Rows of another query fade only if the next ones take long. */
.row[aria-disabled] { cursor: default; animation: fade .2s .3s forwards; }
@keyframes fade { to { opacity: .5; } }
.row svg { margin-top: .15em; }
.row-text { min-width: 0; overflow-wrap: anywhere; }
.row, .group-title { overflow: clip; }
.name, .path { unicode-bidi: isolate; }
.name { font-weight: 500; }
.path, .snippet { color: var(--muted); font-size: .87em; }
.path { margin-inline-start: .4em; }
.snippet { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.page .name { text-decoration: underline; text-underline-offset: .2em; }
mark { background: color-mix(in srgb, var(--accent) 22%, transparent); color: var(--text); font-weight: 600;
  border-radius: 2px; }
.after:not(:empty) { padding: 0 1em .7em; font-size: .85em; color: var(--muted); }
.keys { display: flex; gap: 1.2em; padding: .5em 1em; border-top: 1px solid var(--line); font-size: .8em;
  color: var(--muted); }
kbd { font: inherit; font-size: .9em; border: 1px solid var(--line); border-radius: 4px; padding: 0 .35em; }
.hidden-text { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.open-button { display: inline-flex; align-items: center; gap: .5em; padding: .35em .8em; color: var(--text);
  background: var(--background); border: 1px solid var(--line); border-radius: 2em; }
.open-button kbd { color: var(--muted); }
.floating { position: fixed; inset: auto 1em 1em auto; z-index: 1000; box-shadow: 0 2px 10px rgb(0 0 0 / 25%); }
@media (max-width: 40em) {
  dialog { margin: 0; width: 100vw; height: 100dvh; max-height: none; }
  dialog .panel { height: 100%; max-height: none; border: 0; border-radius: 0; }
  .keys, .open-button kbd { display: none; }
}
@media (forced-colors: active) { .row[aria-selected="true"] { border-inline-start-color: Highlight; } }
`;

let sheet: CSSStyleSheet | undefined;

/** Give an element a shadow tree with the styles of the search. */
export function attachStyles(host: HTMLElement): ShadowRoot {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  return root;
}
