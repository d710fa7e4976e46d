// Helpers for elements and texts. Strings become text nodes, never HTML.

/** Create an element with properties and children; undefined and null are skipped. */
export function create(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key === "dataset") Object.assign(element.dataset, value);
    else if (key === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (key === "class") element.className = value;
    else if (key.includes("-") || key === "role") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Announce a change to screen readers. */
export function announce(text) {
  const region = document.getElementById("announcer");
  // A live region is read only when its text changes, so a repeated text gets a trailing space.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}

/** Turn a message of the API into a sentence: with a capital and a full stop. */
export function toSentence(text) {
  return text ? text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".") : "";
}
