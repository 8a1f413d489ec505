/** The internal limits of a case. */

import { drawLimits } from "../../support/limits.ts";

/** Draws limits. With bytes that are read one by one, or records of processes every millisecond, few other calls had faults. */
export function limitsOf(number: number): ReturnType<typeof drawLimits> {
  const drawn = drawLimits(number);
  return {
    ...drawn,
    FILES: { ...drawn.FILES, atOnce: 4096 },
    CHUNKED: { ...drawn.CHUNKED, record: 200, folder: number % 2 === 0 ? 8 : 4096 },
  };
}
