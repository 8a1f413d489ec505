/**
 * Converts a state to and from a URL fragment: the text of its call (see `values/call-text.ts`). An output for comparison
 * (see `why/compared-link.ts`) and the sender's question, `ask=…` (see `suffix.ts`), may follow a `!`. Long links are
 * compressed before they are shared (see `packed.ts`).
 */

import { attempt } from "../values/attempt.ts";
import { parseCall, printCall } from "../values/call-text.ts";
import type { State } from "../values/state.ts";
import { unpacked } from "./packed.ts";

export const toHash = (state: State): string => printCall(state);

/**
 * Parses the output of `toHash`, with or without its `#`. A compressed link must have been decompressed with `unpack`.
 * This function never throws.
 */
export function fromHash(hash: string): { readonly state: State } | { readonly error: string } {
  const { text, error } = unpacked(hash);
  return error === null
    ? attempt(() => ({ state: parseCall(text.replace(/!.*$/s, "")) }))
    : { error };
}

/** Returns the suffix of a URL fragment, which starts with `!`: an output to compare, and the sender's question. */
export const suffixIn = (hash: string): string => /!.*$/s.exec(unpacked(hash).text)?.[0] ?? "";
