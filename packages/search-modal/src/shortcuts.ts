// Keys that open the search from anywhere on a page.

/** Call a function on Ctrl-K or Cmd-K, and another on `/` outside of text fields; the result stops listening. */
export function listenToShortcuts(onToggle: () => void, onOpen: () => void): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.isComposing || event.altKey || event.defaultPrevented) return;
    const hasModifier = event.metaKey || event.ctrlKey;
    const isToggle = hasModifier && !event.shiftKey && event.key.toLowerCase() === "k";
    const isOpen = !hasModifier && event.key === "/" && !isTextField(event.composedPath()[0]);
    if (!isToggle && !isOpen) return;
    event.preventDefault();
    if (event.repeat) return; // the key is held down
    if (isToggle) onToggle();
    else onOpen();
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}

function isTextField(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

/** Return the name of the key beside K on this machine. */
export function getModifierName(): string {
  return /mac|iphone|ipad/i.test(navigator.platform) ? "⌘" : "Ctrl";
}
