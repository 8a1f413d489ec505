/** Measures the duration of an action. */

import { WITHOUT_NODE } from "./platform.ts";

/**
 * Seconds of processor time, so that other work on the machine does not count; an estimate on platforms without that
 * clock.
 */
export function secondsOf(action: () => void): number {
  if (WITHOUT_NODE !== false) return estimateOf(action);
  const before = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Steps of the yardstick, and their seconds on an idle processor. */
const STEPS = 200_000_000;
const STEPS_SECONDS = 0.25;

/**
 * The elapsed time, divided by the slowdown of the yardstick right afterwards relative to an idle processor. On a
 * machine with seven programs per core, the elapsed time was four times the processor time.
 */
function estimateOf(action: () => void): number {
  const passed = wallOf(action);
  if (passed < STEPS_SECONDS) return passed;
  const slow = wallOf(() => {
    // The value must be used, or a compiler might remove the loop.
    if (yardstick() === 0) throw new Error("0 comes only after 2^32 steps");
  });
  return passed * Math.min(1, STEPS_SECONDS / slow);
}

/** Each step depends on the previous result, so that all compilers take about the same time. */
function yardstick(): number {
  let value = 1;
  for (let i = 0; i < STEPS; i++) value = (Math.imul(value, 1_664_525) + 1) | 0;
  return value;
}

function wallOf(action: () => void): number {
  const start = performance.now();
  action();
  return (performance.now() - start) / 1000;
}
