/** Recognizes code that a Content-Security-Policy, or a server's runtime, does not let a codec run. */

import { messageOf, TensorError } from "../../../core/errors.ts";

/** Each browser has words of its own for a policy; workerd compiles only WebAssembly that it was deployed with. */
const FORBIDDEN = /unsafe-eval|content.security.policy|\bCSP\b|disallowed by embedder/i;

/** A codec, the source expression in `script-src` that it needs, and the advice for pages that cannot add it. */
export interface Needs {
  readonly what: string;
  readonly source: string;
  readonly instead: string;
}

/** Returns the error for a codec that a policy forbids; null if the cause is something else. */
export function policyError(cause: unknown, { what, source, instead }: Needs): TensorError | null {
  if (!FORBIDDEN.test(messageOf(cause))) return null;
  const sentence = `${what}, and the Content-Security-Policy forbids this here; add ${source} to script-src, or ${instead}`;
  return new TensorError("engine", sentence, { key: "script-src", expected: source }, { cause });
}

/**
 * Runs an encoder of numcodecs, whose glue code evaluates strings as JavaScript.
 * @throws TensorError `engine` if the page's policy forbids this
 */
export async function byNumcodecs(encode: () => Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await encode();
  } catch (cause) {
    throw policyError(cause, NUMCODECS) ?? cause;
  }
}

const NUMCODECS = {
  what: "numcodecs, which encodes lz4, evaluates strings as JavaScript",
  source: "'unsafe-eval'",
  instead: "choose zstd as the compressor of blosc",
};
