/**
 * Preserves data across a page load in this tab: a state that is not in the URL yet, its undo history, the user's
 * own call, and the sender's question. Documents are stored as URL fragments. Removed elements
 * are not stored, because earlier documents still contain them.
 */

import { documentOf, type Document } from "./document.ts";
import { fromHash, toHash } from "./hash.ts";
import type { History } from "./history.ts";
import type { About } from "./suffix.ts";

/** A document's URL fragment, and the id of the example that it shows. */
type Written = readonly [hash: string, preset: string | null];

/** The sender's question with the URL fragment of its call; the question is null if the link has none. */
type Question = readonly [of: string, text: string | null];

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
  readonly question: Question;
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
    question:
      question.text === "" || question.of.length > room
        ? NO_QUESTION
        : [question.of, question.text],
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
    const left: unknown = JSON.parse(text ?? "null");
    if (typeof left !== "object" || left === null || !("at" in left)) return null;
    const fields = new Map<string, unknown>(Object.entries(left));
    const textIn = (name: string): string | null => {
      const value = fields.get(name);
      return typeof value === "string" ? value : null;
    };
    const at = textIn("at") ?? "";
    const question = fields.get("question");
    return {
      at,
      was: textIn("was") ?? at,
      stop: textIn("stop") ?? "",
      to: textIn("to"),
      own: textIn("own"),
      past: writtenIn(fields.get("past")),
      future: writtenIn(fields.get("future")),
      question: isWritten(question) ? question : NO_QUESTION,
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

const NO_QUESTION: Question = ["", null];

const writtenIn = (list: unknown): Written[] =>
  Array.isArray(list) && list.every(isWritten) ? list : [];

const isWritten = (one: unknown): one is Written =>
  Array.isArray(one) &&
  typeof one[0] === "string" &&
  (one[1] === null || typeof one[1] === "string");
