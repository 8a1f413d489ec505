/**
 * A state and the user data that must not be lost: removed elements, tensors of other operators, and the user's own
 * call while an example is shown. Documents are immutable: every function returns a new document.
 */

import { toHash } from "./hash.ts";
import type { Preset } from "../examples/preset.ts";
import type { State, TensorText } from "../values/state.ts";

/** The parts of an input that edits have removed. */
export interface Reserve {
  /** A tensor as large as the input has been, with the newest element at each place; null if nothing was removed. */
  readonly former: TensorText | null;
  /** The tensor of an omitted input; null while the input is present. */
  readonly leftOut: TensorText | null;
}

export const NO_RESERVE: Reserve = { former: null, leftOut: null };

interface Call {
  readonly state: State;
  readonly reserves: readonly Reserve[];
  /** Attributes that the current version does not accept, by name. */
  readonly dropped: Readonly<Record<string, string>>;
}

/** A call, and the calls that the user made earlier with other operators. */
interface Work extends Call {
  /** The last call of each operator, by domain and operator name. */
  readonly kept: Readonly<Record<string, Call>>;
}

export interface Document extends Work {
  /** The preset that equals the state; null after the first change. */
  readonly preset: string | null;
  /** The user's last edited call, saved when an example or file was opened; null if no call was edited. */
  readonly own: Work | null;
}

export const freshWork = (state: State): Work => ({
  state,
  reserves: state.inputs.map(() => NO_RESERVE),
  dropped: {},
  kept: {},
});

export const documentOf = (state: State, preset: string | null): Document => ({
  ...freshWork(state),
  preset,
  own: null,
});

const workOf = ({ state, reserves, dropped, kept }: Work): Work => ({
  state,
  reserves,
  dropped,
  kept,
});

/** Returns the user's own work, which is preserved while another call is shown. */
const ownOf = (document: Document): Work | null =>
  document.preset === null ? workOf(document) : document.own;

/** Returns a document that shows an example and preserves the user's own call. */
export const withExample = (
  document: Document,
  { id, state }: Pick<Preset, "id" | "state">,
): Document =>
  document.preset === id ? document : { ...freshWork(state), preset: id, own: ownOf(document) };

/** Returns the user's own call, which later edits replace. */
export function withOwn(document: Document): Document {
  if (document.own === null) return document;
  return {
    ...workOf(document.own),
    preset: null,
    own: ownOf(document),
  };
}

/**
 * Returns a document for a state from a file or link. If the state equals the user's own call, the user's whole
 * document is restored.
 */
export function withOpened(document: Document, state: State, preset: string | null): Document {
  const hash = toHash(state);
  if (hash === toHash(document.state)) return document;
  const { own } = document;
  if (own !== null && hash === toHash(own.state)) return withOwn(document);
  return { ...freshWork(state), preset, own: ownOf(document) };
}
