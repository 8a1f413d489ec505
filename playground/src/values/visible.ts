/** Makes characters visible that would reorder the text around them. */

/** Returns a text with its marks of writing direction as escapes, such as `\\u202e`. */
export const visible = (text: string): string =>
  text.replaceAll(
    /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
