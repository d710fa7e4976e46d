// The citation of a passage: its address, its text, and copying it to the clipboard.

const LINK_PROTOCOLS = new Set(["http:", "https:", "file:"]);

/** Return the address of the passage on its page. */
export function getAddress({ url, anchor }) {
  return anchor ? `${url}#${anchor}` : url;
}

/** Return the address if it is safe as a link, or null: `javascript:` and the like must not be clickable. */
export function getLink(metadata) {
  const address = getAddress(metadata);
  try {
    return LINK_PROTOCOLS.has(new URL(address).protocol) ? address : null;
  } catch {
    return null;
  }
}

/** Return `[Title › Section](https://…#anchor)`, which Markdown renders as a link. */
export function formatMarkdownCitation(metadata) {
  const address = getAddress(metadata);
  const heading = [metadata.document_title, metadata.section].filter(Boolean).join(" › ");
  const label = (heading || address).replace(/\s+/g, " ").replace(/[\\`*_[\]<>]/g, "\\$&");
  return address ? `[${label}](${address.replace(/[\s()<>]/g, encodeCharacter)})` : label;
}

// `encodeURIComponent` leaves parentheses as they are, which would end the link in Markdown.
function encodeCharacter(character) {
  return `%${character.codePointAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

/** Copy a text to the clipboard; return whether it worked. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

// Over plain HTTP from another machine there is no clipboard API, but a selected text can be copied.
function copySelection(text) {
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.value = text;
  field.readOnly = true;
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    focused?.focus({ preventScroll: true });
  }
}
