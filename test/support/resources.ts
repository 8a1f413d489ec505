/** Memory that is given back holds a pattern in tests, and at the end of test files nothing is open. */

import assert from "node:assert/strict";
import { settle } from "./platform.ts";
import { MEMORY, OPEN } from "../../src/core/resources.ts";

/** In no tensor of the tests by chance: as float32 -1.2e-22, as an offset far beyond every tensor. */
const PATTERN = 0x9b;

/** From now on memory that is given back holds the pattern, so that whoever still reads it gives a wrong result. */
export function watchMemory(): void {
  MEMORY.onRelease = (bytes) => void bytes.fill(PATTERN);
}

const closings: (() => Promise<void>)[] = [];

/** Has something done when all tests have ended, before {@link requireNothingOpen} looks. */
export const atEnd = (close: () => Promise<void>): void => void closings.push(close);

/** Fails where something is still open that tests opened. */
export async function requireNothingOpen(): Promise<void> {
  for (const close of closings) await close();
  const isOpen = (): boolean => Object.values(OPEN).some((count) => count !== 0);
  // Threads end, and files close, a moment after they were told to.
  for (let turn = 0; turn < 1000 && isOpen(); turn++) await settle();
  const open = Object.fromEntries(Object.entries(OPEN).filter(([, count]) => count !== 0));
  assert.deepEqual(open, {}, `still open at the end: ${JSON.stringify(open)}`);
}
