/** A node that gives wrong results in the user's runtime, and its intended call. */

import { runNode } from "../../core/functions.ts";
import type { NodeSpec } from "../../core/call/call.ts";
import { recovering, type TensorError } from "../../core/errors.ts";
import type { Reduction } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { Verdict } from "../verify/verdicts.ts";

/** A node's verdict in the runtime, and the call with the captured inputs. */
export interface FaultyNode {
  readonly verdict: Verdict;
  readonly isReproducible: boolean;
  readonly call: Meant;
}

export interface Meant {
  readonly node: NodeSpec;
  readonly inputs: readonly Tensor[];
}

export const reductionWord = ({ node }: Meant): string | undefined => {
  const word = node.attributes?.["reduction"];
  return typeof word === "string" ? word : undefined;
};

/** Returns the reduction of a valid call. */
export const reductionIn = (call: Meant): Reduction => (reductionWord(call) ?? "none") as Reduction;

export const axisIn = ({ node }: Meant): number => Number(node.attributes?.["axis"] ?? 0);

export const isScatter = ({ node }: Meant): boolean => node.op.includes("Scatter");

/** Returns the exact outputs; null for an invalid call. */
export const exactOutputs = ({ node, inputs }: Meant): readonly Tensor[] | null =>
  recovering<readonly Tensor[], null>(
    () => runNode(node, inputs),
    () => null,
  );

/** Returns the exact outputs, or the error of an invalid call. */
export const outputsOrError = ({ node, inputs }: Meant): readonly Tensor[] | TensorError =>
  recovering<readonly Tensor[], TensorError>(
    () => runNode(node, inputs),
    (error) => error,
  );
