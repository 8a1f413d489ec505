/** Fills released memory with a pattern, and checks that nothing is open at the end of a test file. */

import assert from "node:assert/strict";
import { settle } from "./platform.ts";
import { MEMORY, OPEN } from "../../src/core/resources.ts";

/**
 * A pattern that no tensor of the tests contains by chance: -1.2e-22 as a float32, and beyond every tensor as an
 * offset.
 */
const PATTERN = 0x9b;

/** Fills memory with the pattern when it is released, so that reading released memory gives a wrong result. */
export function watchMemory(): void {
  MEMORY.onRelease = (bytes) => void bytes.fill(PATTERN);
}

const closings: (() => Promise<void>)[] = [];

/** Registers an action to run after all tests, before {@link requireNothingOpen} checks. */
export const atEnd = (close: () => Promise<void>): void => void closings.push(close);

/** Fails if a resource that the tests opened is still open. */
export async function requireNothingOpen(): Promise<void> {
  for (const close of closings) await close();
  const isOpen = (): boolean => Object.values(OPEN).some((count) => count !== 0);
  // Threads end, and files close, a moment after the request.
  for (let turn = 0; turn < 1000 && isOpen(); turn++) await settle();
  const open = Object.fromEntries(Object.entries(OPEN).filter(([, count]) => count !== 0));
  assert.deepEqual(open, {}, `still open at the end: ${JSON.stringify(open)}`);
}
