// `themeConfig.pertinent`: what a site says about its search.

import type { ThemeConfig, ThemeConfigValidationContext } from "@docusaurus/types";
import { Joi } from "@docusaurus/utils-validation";

export interface PertinentThemeConfig {
  /** The address of the Pertinent service. */
  url: string;
  /** One of the service's `public_keys`. */
  apiKey?: string;
  /** Whether only pages of the reader's version and locale are searched. */
  contextual: boolean;
  placeholder?: string;
  /** Texts of the search by their name in texts.json. */
  translations: Record<string, string>;
}

// The file is a part of the search modal, which is built beside this module.
export const TEXTS = require("./search-modal/texts.json") as Record<string, string>;

const text = Joi.string().allow("");
const PERTINENT = Joi.object<PertinentThemeConfig>({
  url: Joi.string().uri({ scheme: ["http", "https"] }).required().messages({
    "any.required": '"themeConfig.pertinent.url" is required: the address of the Pertinent service, like https://search.example',
  }),
  apiKey: Joi.string().min(8),
  contextual: Joi.boolean().default(false),
  placeholder: Joi.string(),
  translations: Joi.object(Object.fromEntries(Object.keys(TEXTS).map((name) => [name, text]))).default({}),
}).required().label("themeConfig.pertinent").messages({
  "any.required": '"themeConfig.pertinent" is required: give at least the address of the Pertinent service as `url`',
});

const SCHEMA = Joi.object({ pertinent: PERTINENT }).unknown();

export function validateThemeConfig(
  { validate, themeConfig }: ThemeConfigValidationContext<ThemeConfig>,
): ThemeConfig {
  return validate(SCHEMA, themeConfig);
}
