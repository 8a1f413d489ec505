/** Chooses the times of a row to compare. */

/** Returns the mode that is compared with the peers. `undisposed` replaces `new` if the library has no `dispose`. */
export function judgedMode({ inPlace, modes }) {
  const wanted = inPlace ? ["inplace"] : ["new", "undisposed"];
  return wanted.find((mode) => modes[mode] !== undefined);
}

/** Returns the name of the fastest peer, by its times. */
export const bestPeer = (peers) => Object.entries(peers).sort(([, a], [, b]) => a - b)[0]?.[0];
