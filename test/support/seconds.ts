/** How long something takes. */

import { WITHOUT_NODE } from "./platform.ts";

/** Seconds of processor time, so that other work on the machine does not count; an estimate where it cannot be asked for. */
export function secondsOf(action: () => void): number {
  if (WITHOUT_NODE !== false) return estimateOf(action);
  const before = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Steps of the yardstick, and the seconds that they take on an idle processor. */
const STEPS = 200_000_000;
const STEPS_SECONDS = 0.25;

/**
 * The time that has passed, divided by how much longer the yardstick takes next than on an idle processor. On a machine
 * with seven programs for each core, four times the processor time had passed.
 */
function estimateOf(action: () => void): number {
  const passed = wallOf(action);
  if (passed < STEPS_SECONDS) return passed;
  const slow = wallOf(() => {
    // The value is used, or a compiler might drop the loop.
    if (yardstick() === 0) throw new Error("0 comes only after 2^32 steps");
  });
  return passed * Math.min(1, STEPS_SECONDS / slow);
}

/** Each step needs the last one's result, so that all compilers take about the same time. */
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
