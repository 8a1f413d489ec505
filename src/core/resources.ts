/**
 * Counts of open resources, and a hook for released memory. The package only counts. Tests require that every count is
 * zero at their end, and fill released memory with a pattern, so that code which still reads it gives wrong results.
 */

/** The number of open resources of each kind. */
export const OPEN = {
  /** Files that were opened and not closed. */
  files: 0,
  /** Sessions of a runtime that were made and not released. */
  sessions: 0,
  /** Threads that were started and have not ended. */
  workers: 0,
  /** Slots for the status of calls on a GPU that were taken and not given back. */
  slots: 0,
  /** Buffers of a GPU that were made and not destroyed. */
  buffers: 0,
  /** Allocations of scratch memory that were not freed. */
  scratch: 0,
};

export type Resource = keyof typeof OPEN;

/** `onRelease` is called with released memory before it is used again. Null outside tests. */
export const MEMORY: { onRelease: ((bytes: Uint8Array) => void) | null } = { onRelease: null };
