/** The messages between the page and the worker that runs a model. */

import type { Verdict } from "ndscatter/onnx";
import type { State, TensorText } from "../values/state.ts";

/** A scatter or gather of the model, in the order of the model. */
export interface Row {
  /** The location of the node, such as `If "choose" / then_branch / take`. */
  readonly path: string;
  /** The operator with its version, such as `ScatterND-18`. */
  readonly title: string;
  readonly verdict: Verdict;
  /** A sentence about the result; empty if it is equal. */
  readonly sentence: string;
  /** The number of elements that differ, and the number of all elements; null if they cannot be compared. */
  readonly differing: readonly [count: number, all: number] | null;
  /** The likely reason for a wrong result; empty if no known fault explains it. */
  readonly why: string;
  /** True if the page can show the call, because its inputs are known or can be captured again. */
  readonly canShow: boolean;
}

export interface Checked {
  readonly rows: readonly Row[];
  /** Remarks about the inputs, and about the model as a whole. */
  readonly remarks: readonly string[];
}

/** A node as the page shows it. */
export interface ShownNode {
  readonly state: State;
  readonly remarks: readonly string[];
  /** The output of the runtime, if it returned one that differs. */
  readonly actual?: TensorText;
}

/** The fix that was measured in the runtime. */
export interface FoundCure {
  readonly sentence: string;
  /** The fixed model as a file; null if the fix is not another model. */
  readonly model: Blob | null;
}

export const NOT_LOADED =
  "The runtime could not be loaded; check the connection, then check again.";

export type ToWorker =
  | { readonly ask: "check"; readonly files: readonly File[] }
  | { readonly ask: "show"; readonly row: number }
  | { readonly ask: "cure" };

export type FromWorker =
  /** `share` is the part of the work that is done, from 0 to 1; null if it is unknown. */
  | { readonly is: "progress"; readonly sentence: string; readonly share: number | null }
  | { readonly is: "checked"; readonly checked: Checked }
  | { readonly is: "shown"; readonly row: number; readonly shown: ShownNode }
  | { readonly is: "cured"; readonly cure: FoundCure }
  /** `row` is the position of the node that cannot be shown; undefined if the check itself failed. */
  | { readonly is: "failed"; readonly sentence: string; readonly row?: number | undefined };
