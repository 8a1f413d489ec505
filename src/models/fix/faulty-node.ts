/** A node that gives wrong results in the user's runtime, and its intended call. */

import { runNode as run } from "../../core/functions.ts";
import type { NodeSpec } from "../../core/call/call.ts";
import { isTensorError, type TensorError } from "../../core/errors.ts";
import { resolve } from "../../core/operators/registry.ts";
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

/** Returns the operator version, such as 18 for a ScatterND in opset 21. */
export const versionIn = ({ node }: Meant): number => resolve(node).sinceVersion;

export function exactOutputs(call: Meant): readonly Tensor[] | null {
  const outputs = outputsOrError(call);
  return isTensorError(outputs) ? null : outputs;
}

/** Returns the exact outputs, or the error of an invalid call. */
export function outputsOrError({ node, inputs }: Meant): readonly Tensor[] | TensorError {
  try {
    return run(node, inputs);
  } catch (error) {
    if (isTensorError(error)) return error;
    throw error;
  }
}

/** Returns the call with changed attributes; `undefined` removes an attribute. */
export function withAttributes(
  call: Meant,
  changed: Readonly<Record<string, string | undefined>>,
): Meant {
  const all = Object.entries({ ...call.node.attributes, ...changed });
  const kept = all.filter(([, value]) => value !== undefined);
  const attributes = Object.fromEntries(kept) as NodeSpec["attributes"];
  return { ...call, node: { ...call.node, attributes } };
}
