/** Models for exact sessions, and functions that run them in a runtime that executes parts of models here. */

import assert from "node:assert/strict";
import {
  createExactSession,
  type Attribute,
  type Model,
  type ModelSpec,
  type Tensors,
} from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { localRuntime } from "./local-runtime.ts";
import { F32, f32, i64, onnxModel } from "./node-models.ts";

export const ADD = { reduction: "add" };
/** A chain: each step takes the output of the previous one. */
export function chain(...ops: readonly string[]): Model {
  const last = ops.length - 1;
  return onnxModel(18, {
    inputs: { x: F32(4) },
    constants: { at: i64([3, 1], 1, 1, 3), u: f32([3], 1, 2, 4), i: i64([2], 0, 3) },
    nodes: ops.map((op, nth) => {
      const [input, output] = [nth === 0 ? "x" : `v${nth - 1}`, nth === last ? "y" : `v${nth}`];
      const more = op === "ScatterND" ? ["at", "u"] : op === "Gather" ? ["i"] : [];
      const attributes = op === "ScatterND" ? ADD : {};
      return { op, name: `n${nth}`, inputs: [input, ...more], outputs: [output], attributes };
    }),
    outputs: { y: null },
  });
}

export const X = f32([4], 10, 20, 30, 40);

/** The operators of each session. */
export const opsOf = (models: readonly Model[]): string[] =>
  models.map(({ graph }) => graph.nodes.map(({ op }) => op).join(" "));
/** A graph as the body of a node. */
export const body = (spec: Partial<ModelSpec>): Attribute => ({
  type: "other",
  value: "GRAPH",
  graphs: [onnxModel(18, { outputs: {}, nodes: [], ...spec }).graph],
});
/** Runs a model in an exact session of a runtime without If, Loop and Scan. */
export async function runExact(
  model: Model,
  feeds: Tensors,
  nodes: "scatters" | "all" = "scatters",
): Promise<Readonly<Record<string, unknown>>> {
  const { createSession, open } = localRuntime();
  const session = await createExactSession(model, { createSession, nodes });
  const outputs = await session.run(feeds);
  await session.release();
  assert.equal(open(), 0);
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { type, dims, data }]) => [
      name,
      tensor(type as "float32", dims, data).toArray(),
    ]),
  );
}
/** Adds u into x at the index `at`, a value of the graph around. */
export const ADD_AT = {
  op: "ScatterElements",
  inputs: ["x", "at", "u"],
  outputs: ["added"],
  attributes: ADD,
};
