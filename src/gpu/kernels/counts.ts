/** Counts of the work that all engines have submitted to devices, for tests and the benchmark. */

export const WORK = {
  /** The number of command buffers. */
  submits: 0,
  /** The number of dispatches, copies between buffers, and buffer clears. */
  commands: 0,
  dispatches: 0,
  /** The number of compute passes, each of which holds consecutive dispatches. */
  passes: 0,
  /** Bytes that these commands read and write, assuming that caches keep data that neighboring invocations share. */
  bytes: 0,
};
