/**
 * Preserves data across a page load in this tab: a state that is not in the URL yet, its undo history, the user's
 * own call, and the sender's question. Documents are stored as URL fragments. Removed elements
 * are not stored, because earlier documents still contain them.
 */

import { documentOf, type Document } from "./document.ts";
import { fromHash, toHash } from "./hash.ts";
import type { History } from "./history.ts";
import { NOTHING, type About } from "./suffix.ts";

/** A document's URL fragment, and the id of the example that it shows. */
type Written = readonly [hash: string, preset: string | null];

interface Left {
  /** The page's URL fragment when the user left, with its `#`. */
  readonly at: string;
  /** The previous fragment and its history key, because a browser may reload a URL that was replaced since. */
  readonly was: string;
  readonly stop: string;
  /** The URL fragment of the visible state, with its `#`; null while a broken link is in the URL. */
  readonly to: string | null;
  /** The URL fragment of the user's own call, or null. */
  readonly own: string | null;
  readonly past: readonly Written[];
  readonly future: readonly Written[];
  /** The sender's question; empty if the link has none. */
  readonly question: About;
}

const KEY = "ndscatter-left";

/**
 * The maximum total length of all stored fragments, in characters. Browsers store 5 million characters per site, and
 * writing 500,000 takes a few milliseconds.
 */
const MOST = 500_000;

/** Saves the state. If storage is forbidden or full, the state is preserved only in the URL. */
export function leave(
  { present, past, future }: History,
  isBroken: boolean,
  place: Pick<Left, "at" | "was" | "stop">,
  question: About,
): void {
  const to = `#${toHash(present.state)}`;
  let room = MOST;
  const written = (documents: readonly Document[]): Written[] => {
    const all: Written[] = [];
    for (const { state, preset } of documents) {
      const hash = toHash(state);
      room -= hash.length;
      if (room < 0) break;
      all.push([hash, preset]);
    }
    return all;
  };
  const own = present.preset === null ? present.state : present.own?.state;
  const left: Left = {
    ...place,
    to: isBroken ? null : to,
    own: own === undefined ? null : toHash(own),
    past: written(past.toReversed()).toReversed(),
    future: written(future),
    question: question.of.length > room ? NOTHING : question,
  };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(left));
  } catch {}
}

/** Returns and removes what was saved before the page load. */
export function taken(): Left | null {
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    const left = fieldsOf(JSON.parse(text ?? "null"));
    const question = fieldsOf(left["question"]);
    const at = textIn(left["at"]);
    if (at === null) return null;
    return {
      at,
      was: textIn(left["was"]) ?? at,
      stop: textIn(left["stop"]) ?? "",
      to: textIn(left["to"]),
      own: textIn(left["own"]),
      past: writtenIn(left["past"]),
      future: writtenIn(left["future"]),
      question: { of: textIn(question["of"]) ?? "", text: textIn(question["text"]) ?? "" },
    };
  } catch {
    return null;
  }
}

/** Restores a document's history. */
export function historyAround(present: Document, { past, future }: Left): History {
  const documentsOf = (list: readonly Written[]): Document[] =>
    list.flatMap(([hash, preset]) => {
      const found = fromHash(hash);
      return "error" in found ? [] : [{ ...documentOf(found.state, preset), own: present.own }];
    });
  return { past: documentsOf(past), present, future: documentsOf(future) };
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(value ?? {}));

const textIn = (value: unknown): string | null => (typeof value === "string" ? value : null);

const writtenIn = (list: unknown): Written[] =>
  Array.isArray(list) && list.every(isWritten) ? list : [];

const isWritten = (one: unknown): one is Written =>
  Array.isArray(one) &&
  typeof one[0] === "string" &&
  (one[1] === null || typeof one[1] === "string");
