// Elements in one expression. Children that are strings become text, never markup.

/** An element with its properties and children; a property that is undefined or null is left out. */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key === "dataset") Object.assign(element.dataset, value);
    else if (key === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (key === "class") element.className = value;
    else if (key.includes("-") || key === "role") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Tell a screen reader something that the eye sees elsewhere. */
export function say(text) {
  const said = document.getElementById("said");
  // Said twice, the same words must still be a change.
  said.textContent = said.textContent === text ? `${text}\u00a0` : text;
}
