/** Creates lists whose members are computed on access. */

import type { Lazy } from "./explanation.ts";

/** Returns a lazy list with `length` members. Every access calls `make`, and the results are not cached. */
export const lazyList = <T>(length: number, make: (position: number) => T): Lazy<T> => ({
  length,
  at(position) {
    const place = position < 0 ? position + length : position;
    return Number.isSafeInteger(place) && place >= 0 && place < length ? make(place) : undefined;
  },
  *[Symbol.iterator]() {
    for (let place = 0; place < length; place++) yield make(place);
  },
});
