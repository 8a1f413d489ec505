/**
 * Bytes of arrays, and of files between the stages of jobs, that this thread has read and written: of what is stored, so
 * compressed chunks count as they are in their files. Texts that say what a job or an array is are not counted.
 */
export const TRAFFIC = { read: 0, written: 0 };

/** Bytes that were read and written. */
export type Traffic = Readonly<typeof TRAFFIC>;
