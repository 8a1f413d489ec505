/**
 * Counts open resources, and provides a hook for released memory. Only tests use the counts and the hook: every test
 * must end with all counts at zero, and released memory is filled with a pattern, so that code that still reads it
 * produces wrong results.
 */

/** Number of open resources of each kind. */
export const OPEN = {
  /** Files that were opened and have not been closed. */
  files: 0,
  /** Runtime sessions that were created and have not been released. */
  sessions: 0,
  /** Threads that were started and have not ended. */
  workers: 0,
  /** Status slots of GPU calls that were reserved and have not been released. */
  slots: 0,
  /** GPU buffers that were created and have not been destroyed. */
  buffers: 0,
  /** Allocations of scratch memory that have not been freed. */
  scratch: 0,
};

/** Hook that is called with released memory before the memory is reused; null outside tests. */
export const MEMORY: { onRelease: ((bytes: Uint8Array) => void) | null } = { onRelease: null };
