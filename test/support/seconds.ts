/** How long something takes. */

import { WITHOUT_NODE } from "./platform.ts";

/** Seconds of processor time where it can be asked for, so that other work on the machine does not count. */
export function secondsOf(action: () => void): number {
  if (WITHOUT_NODE !== false) {
    const start = performance.now();
    action();
    return (performance.now() - start) / 1000;
  }
  const before = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
