/** What the cache must be: the same calls on the JavaScript engine, against which the page compares the GPU. */

import { equals, scatterND, zeros } from "ndscatter";
import { HEADS, PAGE, POSITIONS, WIDTH } from "./models.js";

export const CACHE = [HEADS, POSITIONS, WIDTH];
export const PAGES = [POSITIONS / PAGE];

/** The page of each attention weight. Four positions share a page, so its sum depends on the order of additions. */
export const PAGE_OF = Array.from({ length: HEADS }, () => [
  Array.from({ length: POSITIONS }, (_, position) => [Math.floor(position / PAGE)]),
]);

export class HostCache {
  #tensors = {
    keys: zeros("float32", CACHE),
    values: zeros("float32", CACHE),
    pages: zeros("float32", PAGES),
  };

  get keys() {
    return this.#tensors.keys;
  }

  get values() {
    return this.#tensors.values;
  }

  write(where, key, value, weights) {
    const { keys, values, pages } = this.#tensors;
    this.#tensors = {
      keys: scatterND(keys, where, key),
      values: scatterND(values, where, value),
      pages: scatterND(pages, PAGE_OF, weights, { reduction: "add" }),
    };
  }

  equals(tensors) {
    return Object.entries(this.#tensors).every(([name, tensor]) => equals(tensor, tensors[name]));
  }
}
