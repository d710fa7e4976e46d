import { type ReactNode, useEffect, useRef } from "react";
import { useColorMode } from "@docusaurus/theme-common";
import useIsBrowser from "@docusaurus/useIsBrowser";
import {
  getModifierName, ICONS, listenToShortcuts, SearchModal, usePertinentOptions, usePertinentTexts,
} from "docusaurus-theme-pertinent/client";
import styles from "./styles.module.css";

/** The button in the navbar that opens the search. */
export default function SearchBar(): ReactNode {
  const options = usePertinentOptions();
  const texts = usePertinentTexts();
  const { colorMode } = useColorMode();
  const isBrowser = useIsBrowser();
  const modal = useRef<SearchModal | null>(null);

  useEffect(() => {
    const created = new SearchModal(options);
    modal.current = created;
    const stopListening = listenToShortcuts(() => created.toggle(), () => created.open());
    return () => {
      stopListening();
      created.remove();
    };
  }, [options]);

  useEffect(() => modal.current?.setTheme(colorMode), [colorMode]);

  return (
    <button
      type="button"
      className={styles.button}
      aria-keyshortcuts="Control+K Meta+K"
      onClick={() => modal.current?.open()}
    >
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d={ICONS.search} />
      </svg>
      <span className={styles.label}>{texts.button}</span>
      <kbd className={styles.keys} aria-hidden="true">{isBrowser ? getModifierName() : "Ctrl"} K</kbd>
    </button>
  );
}
