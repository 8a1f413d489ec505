/**
 * A check of a file before it is opened, written or removed. In a file of its own, because declarations without Node's
 * types use it.
 */

/** @throws TensorError for a file that a link puts outside of the allowed folders */
export type Guard = (file: string) => Promise<void>;
