/** Chooses one of the correct fixes. */

import { FIX } from "../../core/limits.ts";
import type { Cure } from "./report.ts";

/**
 * A later fix is chosen if its time is below this fraction of an earlier fix's time, because medians of short runs
 * vary. A later setting never replaces an earlier setting, because its results may be correct by chance. The first
 * setting is a single thread, which cannot race. An exact session must save more time, because it makes the model
 * depend on this package.
 */
const WORTH_IT: Readonly<Record<Cure["kind"], number>> = {
  setting: 0,
  model: 0.8,
  "exact-session": 0.5,
};

export function cheapestOf(cures: readonly Cure[]): Cure | null {
  let best: Cure | null = null;
  for (const cure of cures.filter(({ isRight }) => isRight)) {
    const [time, known] = [cure.whole.time ?? Infinity, best?.whole.time ?? Infinity];
    const isCheaper = time < known * WORTH_IT[cure.kind] && known - time > FIX.saving;
    if (best === null || isCheaper) best = cure;
  }
  return best;
}
