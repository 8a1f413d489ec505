/**
 * Counts the bytes of arrays and of files between job stages that this thread has read and written. The counts are
 * stored bytes, so a compressed chunk counts with its file size. Job files and metadata are excluded.
 */
export const TRAFFIC = { read: 0, written: 0 };

export type Traffic = Readonly<typeof TRAFFIC>;
