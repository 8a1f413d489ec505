/** Decides before a model is read whether the device can hold it. */

const GIGABYTE = 2 ** 30;

/** WebAssembly has 4 GB of memory, and the file, the copy of the runtime and the results of nodes are in memory. */
const MOST_BYTES = GIGABYTE;

/** The part of the device's memory that a page can use for a model. */
const PART = 1 / 8;

/**
 * Returns a sentence if the device cannot hold a model of this size, otherwise null.
 *
 * @param memory the device's memory in GiB, of which browsers report 8 at most; not a number if the browser reports none
 */
export function refusal(bytes: number, memory: unknown): string | null {
  const own = typeof memory === "number" ? memory : Infinity;
  const most = Math.min(MOST_BYTES, own * GIGABYTE * PART);
  if (bytes <= most) return null;
  const why = most === MOST_BYTES ? "a browser" : `a device with ${memory} GB of memory`;
  return `The model has ${printed(bytes)}, but ${why} can hold models of up to ${printed(most)}. Run npx ndscatter verify on a computer instead.`;
}

const printed = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString("en")} MB`;
