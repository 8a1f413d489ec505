/** A look at a file before it is opened, written or removed; of its own, because declarations without Node's types name it. */

/** @throws TensorError for a file to which links lead from elsewhere */
export type Guard = (file: string) => Promise<void>;
