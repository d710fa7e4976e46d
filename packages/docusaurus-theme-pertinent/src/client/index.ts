// What the components of this theme are made of; swizzled components import it by the name of the package.

export * from "../search-modal/index";
export { usePertinentOptions, usePertinentTexts } from "./options";
