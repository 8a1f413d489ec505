/** Counts of the work that the calls of all engines have submitted to devices. Tests and the benchmark read them. */

export const WORK = {
  /** The number of command buffers. */
  submits: 0,
  /** The number of dispatches, copies between buffers, and buffer clears. */
  commands: 0,
  dispatches: 0,
  /** The number of compute passes, each of which holds consecutive dispatches. */
  passes: 0,
  /** Bytes that these commands read and write, assuming that caches keep data shared by neighbouring invocations. */
  bytes: 0,
};
