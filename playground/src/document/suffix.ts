/**
 * The suffix of a URL: an output to compare and the sender's question, such as `!float32:4:1,2,3,4;ask=…` or
 * `!ask=Why%20is%20row%201%20not%2080%3F`. Each belongs to one call, and is neither shown nor written to the URL while
 * the page shows another call.
 */

import type { State } from "../values/state.ts";
import { suffixIn, toHash } from "./hash.ts";

/** A text about a call, which is given as its URL fragment, so that the text finds its call after a reload. */
export interface About {
  readonly of: string;
  readonly text: string;
}

export interface Suffix {
  readonly question: About;
  /** The output to compare, as `why/compared-link.ts` prints it. */
  readonly compared: About;
}

export const NOTHING: About = { of: "", text: "" };

/** Checks whether a state is the call with this URL fragment. */
export const isCall = (of: string, state: State): boolean => of !== "" && of === toHash(state);

/** Returns the text if it is about this state; otherwise an empty text. */
export const textAbout = ({ of, text }: About, state: State): string =>
  text !== "" && isCall(of, state) ? text : "";

/** Reads the suffix of a URL whose call is `state`; null for a URL that cannot be parsed. */
export function readSuffix(url: string, state: State | null): Suffix {
  const text = suffixIn(url);
  const of = state === null ? "" : toHash(state);
  return {
    question: { of, text: questionIn(text) },
    compared: { of, text: withoutQuestion(text) },
  };
}

/** Returns a URL fragment, without its `#`, with what belongs to its call. */
export function printWithSuffix({ question, compared }: Suffix, state: State): string {
  const hash = toHash(state);
  const textOf = ({ of, text }: About): string => (of === hash ? text : "");
  return hash + withQuestion(textOf(compared), textOf(question));
}

/**
 * Returns the suffix after another URL is shown. The URL decides what belongs to its own call; a text about any other
 * call is kept, because undo may show that call again.
 */
export const withUrl = (before: Suffix, url: Suffix): Suffix => ({
  question: newer(before.question, url.question),
  compared: newer(before.compared, url.compared),
});

const newer = (before: About, now: About): About =>
  now.text === "" && now.of !== before.of ? before : now;

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
