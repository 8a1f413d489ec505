/** Divides the entries of fragments into batches of limited size. */

import type { Fragment } from "./fragment-layout.ts";

/** The entries of a fragment that belong to a batch. */
export interface Part {
  readonly fragment: Fragment;
  readonly from: number;
  readonly count: number;
}

/** Divides the entries of all fragments into ordered batches of at most `most` entries, usually a single batch. */
export function* partsOf(fragments: Iterable<Fragment>, most: number): Generator<Part[]> {
  let batch: Part[] = [];
  let filled = 0;
  for (const fragment of fragments) {
    for (let from = 0; from < fragment.count;) {
      const count = Math.min(fragment.count - from, most - filled);
      batch.push({ fragment, from, count });
      from += count;
      filled += count;
      if (filled < most) continue;
      yield batch;
      batch = [];
      filled = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
