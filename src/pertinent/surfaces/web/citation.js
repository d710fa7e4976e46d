// Where a passage stands: its address, its citation, and the way to the clipboard.

const LINKABLE = new Set(["http:", "https:", "file:"]);

/** The address of the passage on its page. */
export function addressOf({ url, anchor }) {
  return anchor ? `${url}#${anchor}` : url;
}

/** The address where it may be a link, or null: nothing but a page may be opened by a click. */
export function linkOf(metadata) {
  const address = addressOf(metadata);
  try {
    return LINKABLE.has(new URL(address).protocol) ? address : null;
  } catch {
    return null;
  }
}

/** `Title › Section. https://…#anchor` */
export function citationOf(metadata) {
  const place = [metadata.document_title, metadata.section].filter(Boolean).join(" › ");
  return [place, addressOf(metadata)].filter(Boolean).join(". ");
}

/** Put a text on the clipboard; false where neither way works. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelecting(text);
  }
}

// Over plain http from another machine there is no clipboard to write to, but a selection can be copied.
function copyBySelecting(text) {
  const holder = document.createElement("textarea");
  const focused = document.activeElement;
  holder.value = text;
  holder.readOnly = true;
  holder.className = "unseen";
  document.body.append(holder);
  holder.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    holder.remove();
    focused?.focus({ preventScroll: true });
  }
}
