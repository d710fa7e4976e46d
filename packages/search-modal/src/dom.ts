// Helpers for elements. Strings become text nodes, never HTML.

type Child = Node | string | null | false | undefined;

/** Create an element with attributes and children. */
export function create<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, attributes: Record<string, string> = {}, ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

/** Create a button that calls a function. */
export function createButton(
  attributes: Record<string, string>, onClick: () => void, ...children: Child[]
): HTMLButtonElement {
  const button = create("button", { type: "button", ...attributes }, ...children);
  button.addEventListener("click", onClick);
  return button;
}

/** Create an icon from the path of an SVG. */
export function createIcon(path: string): SVGSVGElement {
  const namespace = "http://www.w3.org/2000/svg";
  const icon = document.createElementNS(namespace, "svg");
  const line = document.createElementNS(namespace, "path");
  line.setAttribute("d", path);
  icon.setAttribute("viewBox", "0 0 24 24");
  icon.setAttribute("aria-hidden", "true");
  icon.append(line);
  return icon;
}

export const ICONS = {
  search: "M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12zm4.5 10.5L20 20",
  close: "M6 6l12 12M18 6L6 18",
  page: "M7 3h7l4 4v14H7zM14 3v4h4",
  section: "M10 4L8 20M16 4l-2 16M5 9h15M4 15h15",
  recent: "M12 7v5l3 2M12 4a8 8 0 1 1-8 8",
  all: "M4 7h16M4 12h16M4 17h10",
};
