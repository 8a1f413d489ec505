/**
 * Serializes the undo history so that it survives a page load. Each document is stored as its URL fragment. Removed
 * elements are not stored, because earlier documents still contain them.
 */

import { documentOf, type Document } from "./document.ts";
import { fromHash, toHash } from "./hash.ts";
import { historyOf, pushed, redone, undone, type History } from "./history.ts";

/** A document's URL fragment, and the id of the example that it shows. */
type Written = readonly [hash: string, preset: string | null];

export interface Around {
  readonly past: readonly Written[];
  readonly future: readonly Written[];
}

const NOTHING: Around = { past: [], future: [] };

/**
 * The maximum total length of all stored fragments, in characters. Browsers store 5 million characters per site, and
 * writing 500,000 takes a few milliseconds.
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

/** Restores a document's history from its serialized steps. */
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

/** Parses the output of `aroundOf`; any other value gives an empty history. */
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
