/**
 * Type of the check that is made before a file is opened, written or removed. The type has a separate file, because
 * declarations without Node's types use it.
 */

/** @throws TensorError if a link leads outside the allowed folders */
export type Guard = (file: string) => Promise<void>;
