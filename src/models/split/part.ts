/** Some of a graph's nodes as a separate model. */

import type { TensorType } from "../../core/operators/operator.ts";
import { sameType, unifyTypes } from "../model/known.ts";
import type { Constant, Graph, Model, ModelNode, ValueInfo } from "../model/model.ts";
import { ownScope } from "./types.ts";

/** The nodes and values of a part. Values keep their names. */
export interface PartSpec {
  /** The graph of the nodes. Declared types of inner values are dropped, because runtimes do not need them. */
  readonly graph: Graph;
  readonly opsets: Readonly<Record<string, number>>;
  readonly nodes: readonly ModelNode[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly constants: readonly Constant[];
  /** Returns a value's certain type in the whole model. */
  readonly typeOf?: (name: string) => TensorType | null;
}

/** Creates a model from some nodes of a graph. The model's functions are kept, because the nodes may call them. */
export function partOf(
  model: Model,
  { graph, opsets, nodes, inputs, outputs, constants, typeOf }: PartSpec,
): Model {
  const part: Model = {
    ...model,
    opsets: { ...model.opsets, ...opsets },
    graph: {
      ...graph,
      nodes: [...nodes],
      inputs: [...inputs],
      outputs: [...outputs],
      constants: [...constants],
      values: [],
    },
  };
  return typeOf === undefined ? part : withLostTypes(part, typeOf);
}

/**
 * Adds types that follow from the whole model but not from the part alone. An example is a Reshape to a shape that
 * another part computes. A runtime fuses fewer operators if it does not know a rank, so its results may differ.
 */
function withLostTypes(part: Model, typeOf: (name: string) => TensorType | null): Model {
  const scope = ownScope(part);
  const lost = new Map<string, TensorType>();
  for (const name of part.graph.nodes.flatMap(({ outputs }) => outputs)) {
    const whole = name === "" ? null : typeOf(name);
    const { type } = scope.get(name).certain;
    const both = whole && type ? unifyTypes(type, whole) : whole;
    if (both !== null && !sameType(both, type)) lost.set(name, both);
  }
  if (lost.size === 0) return part;
  const outputs = part.graph.outputs.map((one) => ({
    ...one,
    type: one.type ?? lost.get(one.name) ?? null,
  }));
  for (const { name } of outputs) lost.delete(name);
  const values = Array.from(lost, ([name, type]) => ({ name, type }));
  return { ...part, graph: { ...part.graph, outputs, values } };
}
