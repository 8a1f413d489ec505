/**
 * The sender's question, as the last part of a link's suffix: `!ask=Why%20is%20row%201%20not%2080%3F`, or after an output
 * for comparison, `!float32:4:1,2,3,4;ask=…`.
 */

/** The maximum length of a question, which stands in the title's second line. */
export const LONGEST_QUESTION = 160;

const PART = /(^!|;)ask=([^;]*)/;

/** Removes half surrogate pairs, which cannot be encoded, because the limit may cut a pair. */
const shortened = (question: string): string =>
  question
    .trim()
    .slice(0, LONGEST_QUESTION)
    .replaceAll(/\p{Cs}/gu, "")
    .trim();

/** Returns the question in a suffix; an empty text if the suffix has none. */
export function questionIn(suffix: string): string {
  try {
    return shortened(decodeURIComponent(PART.exec(suffix)?.[2] ?? ""));
  } catch {
    return "";
  }
}

/** Returns the suffix without its question; an empty text if nothing else is in the suffix. */
export const withoutQuestion = (suffix: string): string =>
  suffix.replace(PART, "").replace(/^!$/, "");

export function withQuestion(suffix: string, question: string): string {
  const asked = shortened(question);
  const rest = withoutQuestion(suffix);
  if (asked === "") return rest;
  // The function encodeURIComponent does not encode these characters, of which ! begins a suffix.
  const text = encodeURIComponent(asked).replaceAll(
    /[!'()*~]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return rest === "" ? `!ask=${text}` : `${rest};ask=${text}`;
}
