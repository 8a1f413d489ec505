/**
 * Writes the steps of undo and redo as text that survives a page load. A document is written as its address. Elements
 * cut off from its inputs are not written, because earlier documents still contain them.
 */

import { documentOf, type Document } from "./document.ts";
import { fromHash, toHash } from "./hash.ts";
import { historyOf, pushed, redone, undone, type History } from "./history.ts";

/** The address of a document, and the id of the example in it. */
type Written = readonly [hash: string, preset: string | null];

export interface Around {
  /** The earlier documents, newest last. */
  readonly past: readonly Written[];
  /** The documents to redo, next first. */
  readonly future: readonly Written[];
}

const NOTHING: Around = { past: [], future: [] };

/**
 * The maximum length of all addresses, in characters. Browsers store 5 million characters per site, and writing 500,000
 * takes a few ms.
 */
const MOST = 500_000;

export function aroundOf(history: History): Around {
  let room = MOST;
  const walk = (step: (from: History) => History): Written[] => {
    const found: Written[] = [];
    for (let [from, to] = [history, step(history)]; to !== from; [from, to] = [to, step(to)]) {
      const { state, preset } = to.present;
      const hash = toHash(state);
      room -= hash.length;
      if (room < 0) break;
      found.push([hash, preset]);
    }
    return found;
  };
  const past = walk(undone).toReversed();
  return { past, future: walk(redone) };
}

/** Restores the history of a document from its written steps. */
export function historyAround(present: Document, { past, future }: Around): History {
  const documentsOf = (list: readonly Written[]): Document[] =>
    list.flatMap(([hash, preset]) => {
      const found = fromHash(hash);
      return "error" in found ? [] : [{ ...documentOf(found.state, preset), own: present.own }];
    });
  const all = [...documentsOf(past), present];
  const later = documentsOf(future);
  const whole = [...all, ...later]
    .slice(1)
    .reduce((history, document) => pushed(history, document), historyOf(all[0]));
  return later.reduce((history) => undone(history), whole);
}

/** Parses the result of {@link aroundOf}; returns an empty history for any other value. */
export function readAround(value: unknown): Around {
  if (typeof value !== "object" || value === null || !("past" in value && "future" in value)) {
    return NOTHING;
  }
  return { past: writtenIn(value.past), future: writtenIn(value.future) };
}

const writtenIn = (list: unknown): Written[] =>
  Array.isArray(list) && list.every(isWritten) ? list : [];

const isWritten = (one: unknown): one is Written =>
  Array.isArray(one) &&
  typeof one[0] === "string" &&
  (one[1] === null || typeof one[1] === "string");
