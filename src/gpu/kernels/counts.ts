/** Counts the work that all engines have submitted to devices, for tests and the benchmark. */

export const WORK = {
  /** The number of command buffers. */
  submits: 0,
  /** The number of dispatches, copies between buffers, and buffer clears. */
  commands: 0,
  dispatches: 0,
  /** The number of compute passes, each of which contains consecutive dispatches. */
  passes: 0,
  /** The number of bytes that the commands read and write, if caches keep data that neighboring invocations share. */
  bytes: 0,
};
