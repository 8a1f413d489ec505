/** Lines of code that `ndscatter compare` prints, as requests to programs in Python. */

import type { DialectId } from "../../src/insight/diagnose/dialect-table.ts";
import { operators } from "../../src/core/operators/registry.ts";
import { roleOf, type OperatorVersion } from "../../src/core/operators/operator.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { NodeCase } from "./cases.ts";
import { environment, type EnvironmentName } from "./environments.ts";
import type { Outputs } from "./operators.ts";
import { Peer } from "./peer.ts";
import { toWire } from "./tensors.ts";

/** A program that runs the lines of some dialects. */
export interface LinesPeer {
  readonly program: string;
  readonly environment: EnvironmentName;
  readonly dialects: readonly DialectId[];
}

export const TORCH: LinesPeer = {
  ...{ program: "torch_peer", environment: "torch" },
  dialects: ["torch-index-put", "torch-scatter", "torch-scatter-reduce"],
};
export const TENSORFLOW: LinesPeer = {
  ...{ program: "tensorflow_peer", environment: "frameworks", dialects: ["tensorflow-cpu"] },
};
export const JAX: LinesPeer = {
  ...{ program: "jax_peer", environment: "frameworks", dialects: ["jax"] },
};

/** Starts a program, or returns the reason to skip it. */
export function openPeer({ program, environment: name }: LinesPeer): Peer<Outputs> | string {
  const { python, missing } = environment(name);
  const [tool] = program.split("_");
  const reason = Object.keys(missing).find((one) => python === null || one.startsWith(tool));
  if (reason !== undefined) return `${program}: ${reason}: ${missing[reason]}`;
  return new Peer(String(python), program);
}

/** The newest version of each operator in each domain. */
export const newestVersions = (): readonly OperatorVersion[] => [
  ...new Map(
    operators()
      .toSorted((a, b) => a.sinceVersion - b.sinceVersion)
      .map((version) => [`${version.domain}.${version.name}`, version]),
  ).values(),
];

/** Returns a case with indices of int64, which every system accepts. */
export function withInt64(one: NodeCase): NodeCase {
  const inputs = one.inputs.map((input, at) => {
    if (roleOf(one.version.inputs[at]) !== "indices") return input;
    return tensor("int64", input.shape, BigInt64Array.from(input.data as Int32Array, BigInt));
  });
  return { ...one, inputs };
}

/** Returns the request to run a line, and to compute gradients for a gradient of its result, if given. */
export function requestOf(
  { version, inputs }: Pick<NodeCase, "version" | "inputs">,
  line: string,
  gradient?: Tensor,
): object {
  const named = inputs
    .map((one, at) => [roleOf(version.inputs[at]), toWire(one)] as const)
    .filter(([role]) => role !== "axis");
  const inOrder = Object.fromEntries(named);
  return { line, inputs: inOrder, ...(gradient && { gradient: toWire(gradient) }) };
}
