/** Distinguishes HTML from plain text: templates escape plain text. */

export interface Html {
  readonly markup: string;
}

/** A value in a template. Lists are joined; null and false produce nothing. */
export type Part = Html | string | number | boolean | null | undefined | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escape = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

function markupOf(part: Part): string {
  if (part === null || part === undefined || typeof part === "boolean") return "";
  if (typeof part === "string") return escape(part);
  if (typeof part === "number") return String(part);
  if ("markup" in part) return part.markup;
  return part.map(markupOf).join("");
}

/** Creates markup with escaped parts. The indentation of the template is removed. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const texts = literals.map((literal) => literal.replaceAll(/\n\s+/g, "\n"));
  return { markup: texts.map((text, at) => markupOf(parts[at - 1]) + text).join("") };
}

/** Joins parts with a separator. */
export const joined = (parts: readonly Part[], between: Part): Html =>
  html`${parts.map((part, at) => (at === 0 ? part : html`${between}${part}`))}`;

export const code = (text: string): Html => html`<code>${text}</code>`;

export const codes = (texts: readonly string[]): Html => joined(texts.map(code), ", ");

/** Returns a slug for an address: lower-case letters, digits and hyphens. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
