/** Keeps texts in the order in which they are written. */

/**
 * Returns a text with its marks of writing direction as escapes, such as `\\u202e`. A quoted text that is written from
 * right to left is between marks, so that what stands around the quotes, such as an arrow, keeps its direction.
 */
export const visible = (text: string): string =>
  text
    .replaceAll(
      /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
      (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
    )
    .replaceAll(/"[^"]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc][^"]*"/g, "\u200e$&\u200e");
