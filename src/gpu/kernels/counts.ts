/** Counts of what the calls of all engines have given devices to do. Tests and the benchmark read them. */

export const WORK = {
  /** Command buffers. */
  submits: 0,
  /** Dispatches, copies between buffers, and buffers that were cleared. */
  commands: 0,
  dispatches: 0,
  /** Compute passes, each of which holds dispatches in a row. */
  passes: 0,
  /** Bytes that these commands read and write, as if caches kept what neighbouring invocations share. */
  bytes: 0,
};
