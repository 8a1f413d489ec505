/**
 * Bytes that this thread has read and written, of arrays and of files between the stages of jobs. Counts stored bytes,
 * so a compressed chunk counts at its size in the file. Excludes job files and metadata.
 */
export const TRAFFIC = { read: 0, written: 0 };

/** Bytes read and written. */
export type Traffic = Readonly<typeof TRAFFIC>;
