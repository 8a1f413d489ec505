/**
 * Stores the visited documents for undo and redo. An earlier document that differs in few elements from its successor
 * is stored as a difference. Without differences, a thousand edits of a tensor with 20,000 elements would store 20
 * million strings.
 */

import type { Document } from "./document.ts";
import type { TensorText } from "../values/state.ts";

export interface History {
  readonly past: readonly Packed[];
  readonly present: Document;
  readonly future: readonly Packed[];
}

/** A document whose inputs may be stored as differences from its neighbour on the side of the present document. */
interface Packed {
  readonly document: Document;
  readonly inputs: readonly (TensorText | null | Difference)[];
}

/** The elements of an input that differ from the neighbouring document. */
interface Difference {
  readonly changes: readonly (readonly [element: number, text: string])[];
}

/** The maximum number of history entries, which is far more than a user undoes. */
const MOST = 1000;

/** The maximum number of elements in a difference; a larger change stores the whole tensor. */
const MOST_CHANGES = 16;

export const historyOf = (present: Document): History => ({ past: [], present, future: [] });

/** Returns the history with a new document. Steps that were undone earlier can no longer be redone. */
export function pushed({ past, present }: History, next: Document): History {
  if (next === present) return { past, present, future: [] };
  return { past: [...past, pack(present, next)].slice(-MOST), present: next, future: [] };
}

/** Returns the history after one undo, or the same history if nothing can be undone. */
export function undone(history: History): History {
  const { past, present, future } = history;
  const last = past[past.length - 1];
  if (last === undefined) return history;
  const before = unpack(last, present);
  return { past: past.slice(0, -1), present: before, future: [pack(present, before), ...future] };
}

export function redone(history: History): History {
  const { past, present, future } = history;
  const [next] = future;
  if (next === undefined) return history;
  const after = unpack(next, present);
  return { past: [...past, pack(present, after)], present: after, future: future.slice(1) };
}

function pack(document: Document, neighbour: Document): Packed {
  const { state } = document;
  const inputs = state.inputs.map((text, input) => {
    const other = neighbour.state.inputs[input] ?? null;
    return text === null || other === null ? text : (differenceOf(text, other) ?? text);
  });
  return { document: { ...document, state: { ...state, inputs: [] } }, inputs };
}

const unpack = ({ document, inputs }: Packed, neighbour: Document): Document => ({
  ...document,
  state: {
    ...document.state,
    inputs: inputs.map((packed, input) => {
      if (packed === null || !("changes" in packed)) return packed;
      return applied(packed, neighbour.state.inputs[input] ?? null);
    }),
  },
});

/** Returns the difference between two texts, or null if more than `MOST_CHANGES` elements differ. */
function differenceOf(text: TensorText, other: TensorText): Difference | null {
  const isAlike = text.dtype === other.dtype && String(text.shape) === String(other.shape);
  if (!isAlike) return null;
  const changes: (readonly [number, string])[] = [];
  for (const [element, value] of text.values.entries()) {
    if (value === other.values[element]) continue;
    if (changes.length === MOST_CHANGES) return null;
    changes.push([element, value]);
  }
  return { changes };
}

function applied({ changes }: Difference, neighbour: TensorText | null): TensorText | null {
  if (neighbour === null || changes.length === 0) return neighbour;
  const values = [...neighbour.values];
  for (const [element, text] of changes) values[element] = text;
  return { ...neighbour, values };
}
