/** Chooses one of the correct cures. */

import { FIX } from "../../core/limits.ts";
import type { Cure } from "./report.ts";

/**
 * The fraction of an earlier cure's time below which a later cure is chosen, because medians of short runs vary. A
 * later setting never replaces an earlier one, because its results may be correct by chance; one thread, the first
 * setting, cannot race. An exact session must save more time, because it makes the model depend on this package.
 */
const WORTH_IT: Readonly<Record<Cure["kind"], number>> = {
  setting: 0,
  model: 0.8,
  "exact-session": 0.5,
};

/**
 * Returns the correct cure of the lowest cost, or null if no cure is correct. @param cures in order of increasing cost
 */
export function cheapestOf(cures: readonly Cure[]): Cure | null {
  let best: Cure | null = null;
  for (const cure of cures.filter(({ isRight }) => isRight)) {
    const [time, known] = [cure.whole.time ?? Infinity, best?.whole.time ?? Infinity];
    const isCheaper = time < known * WORTH_IT[cure.kind] && known - time > FIX.saving;
    if (best === null || isCheaper) best = cure;
  }
  return best;
}
