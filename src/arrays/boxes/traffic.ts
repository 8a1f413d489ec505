/**
 * Bytes of arrays, and of files between the stages of jobs, that this thread has read and written. Stored bytes are
 * counted, so a compressed chunk counts with its size in the file. Job files and metadata are excluded.
 */
export const TRAFFIC = { read: 0, written: 0 };

/** Number of bytes read and written. */
export type Traffic = Readonly<typeof TRAFFIC>;
