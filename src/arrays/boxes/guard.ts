/**
 * Declares the function that checks a path before the file is opened, written or removed. The type has its own file,
 * because declarations that do not depend on Node's types use it.
 */

/** Throws a TensorError if a link leads outside the allowed folders. */
export type Guard = (file: string) => Promise<void>;
