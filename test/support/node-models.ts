/** Models in the form of a row: of one node by the name of its operator, and of several nodes. */

import {
  buildModel,
  type AttributeInput,
  type Constant,
  type Model,
  type ModelNode,
  type ModelSpec,
} from "../../src/entries/onnx.ts";
import type { Domain, Role, TensorType } from "../../src/core/operators/operator.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import type { Dim } from "../../src/core/tensor/shape.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";

export const typed =
  (dtype: DType) =>
  (...shape: readonly Dim[]): TensorType => ({ dtype, shape });

/** Types of inputs: `F32("N", 4)`. */
export const [F32, F16, I64, I32, BOOL, BF16, TEXT] = (
  ["float32", "float16", "int64", "int32", "bool", "bfloat16", "string"] as const
).map(typed);

export const UNRANKED: TensorType = { dtype: "float32", shape: null };

/** Constants: `i64([2, 1], 0, 8)`. */
export const i64 = (shape: readonly number[], ...values: (number | bigint)[]): Tensor =>
  tensor("int64", shape, values);
export const i32 = (shape: readonly number[], ...values: number[]): Tensor =>
  tensor("int32", shape, values);
export const f32 = (shape: readonly number[], ...values: number[]): Tensor =>
  tensor("float32", shape, values);

/** A model of three nodes: `take` and `again` gather by the input i, `put` writes element 0 of x twice. */
export const takePutAgain = (): Model =>
  onnxModel(13, {
    inputs: { x: F32("N"), i: I64("M") },
    constants: { first: i64([2, 1], 0, 0), u: tensor("float32", [2], [10, 20]) },
    nodes: [
      { op: "Gather", name: "take", inputs: ["x", "i"], outputs: ["t"] },
      { op: "ScatterND", name: "put", inputs: ["x", "first", "u"], outputs: ["s"] },
      { op: "Gather", name: "again", inputs: ["t", "i"], outputs: ["y"] },
    ],
  });

/** A type becomes an input of the model, a tensor or a constant becomes a constant, and null leaves the input out. */
export type Given = TensorType | Tensor | Constant | null;

export interface NodeParts extends Partial<Readonly<Record<Role, Given>>> {
  /** The opset of the model for ai.onnx, or of the node for openvino. */
  readonly opset?: number;
  readonly attributes?: Readonly<Record<string, AttributeInput>>;
  readonly outputs?: readonly string[];
  /** The declared type of the output `y`. */
  readonly declared?: TensorType;
  readonly opsets?: ModelSpec["opsets"];
}

const ROLES: readonly string[] = ["data", "indices", "updates", "axis"] satisfies Role[];

const isRole = (key: string): key is Role => ROLES.includes(key);

const isType = (given: TensorType | Tensor | Constant): given is TensorType =>
  !("data" in given || "read" in given);

/**
 * A model of the node "n", whose inputs are named by their role and whose output is "y". Inputs come in the order of
 * `parts`; omitted inputs at the end are absent.
 */
export function oneNode(domain: Domain, op: string, parts: NodeParts): Model {
  const { opset = 1, attributes = {}, outputs = ["y"], declared = null } = parts;
  const isOnnx = domain === "ai.onnx";
  const there = Object.keys(parts)
    .filter(isRole)
    .flatMap((role) => {
      const { [role]: given } = parts;
      return given === undefined ? [] : [{ role, given }];
    });
  while (there.at(-1)?.given === null) there.pop();
  const types = there.flatMap(({ role, given }) =>
    given !== null && isType(given) ? [[role, given] as const] : [],
  );
  const model = buildModel({
    opsets: parts.opsets ?? (isOnnx ? { "": opset } : {}),
    irVersion: isOnnx ? 8 : 11,
    inputs: Object.fromEntries(types),
    nodes: [
      {
        op,
        name: "n",
        domain,
        inputs: there.map(({ role, given }) => (given === null ? "" : role)),
        outputs,
        attributes,
      },
    ],
    outputs: { y: declared },
  });
  for (const { role, given } of there) {
    if (given === null || isType(given)) continue;
    const { dtype, shape } = given;
    const read = "read" in given ? () => given.read() : () => given;
    model.graph.constants.push({ name: role, dtype, shape, read });
  }
  if (!isOnnx) model.graph.nodes[0].opset = opset;
  return model;
}

const maker =
  (domain: Domain, op: string, usual: NodeParts) =>
  (parts: NodeParts = {}): Model =>
    oneNode(domain, op, { ...usual, ...parts });

// Models of ai.onnx, at the operator's newest version by default.

export const scatterND = maker("ai.onnx", "ScatterND", {
  opset: 18,
  data: F32(8, 4),
  indices: I64(2, 1),
  updates: F32(2, 4),
});
export const scatterElements = maker("ai.onnx", "ScatterElements", {
  opset: 18,
  data: F32(4),
  indices: I64(2),
  updates: F32(2),
});
export const scatter = maker("ai.onnx", "Scatter", {
  opset: 10,
  data: F32(4),
  indices: I64(2),
  updates: F32(2),
});
export const gatherND = maker("ai.onnx", "GatherND", {
  opset: 13,
  data: F32(2, 3),
  indices: I64(2, 1),
});
export const gatherElements = maker("ai.onnx", "GatherElements", {
  opset: 13,
  data: F32(2, 3),
  indices: I64(2, 3),
});
export const gather = maker("ai.onnx", "Gather", { opset: 13, data: F32(4, 3), indices: I64(2) });
export const cast = maker("ai.onnx", "Cast", { opset: 13, data: F32(4) });
export const identity = maker("ai.onnx", "Identity", { opset: 13, data: F32(4) });
export const tensorScatter = maker("ai.onnx", "TensorScatter", {
  opset: 24,
  data: F32(2, 1, 4, 8),
  updates: F32(2, 1, 2, 8),
  indices: I64(2),
});

// Models of openvino, at the operator's newest version by default.

export const scatterNDUpdate = maker("openvino", "ScatterNDUpdate", {
  opset: 15,
  data: F32(4),
  indices: I64(2, 1),
  updates: F32(2),
});
export const scatterElementsUpdate = maker("openvino", "ScatterElementsUpdate", {
  opset: 12,
  data: F32(4),
  indices: I64(2),
  updates: F32(2),
  axis: i64([], 0),
});
export const scatterUpdate = maker("openvino", "ScatterUpdate", {
  opset: 3,
  data: F32(4, 3),
  indices: I64(2),
  updates: F32(2, 3),
  axis: i64([], 0),
});
export const ovGather = maker("openvino", "Gather", {
  opset: 8,
  data: F32(4, 3),
  indices: I64(2),
  axis: i64([], 0),
});
export const ovGatherND = maker("openvino", "GatherND", {
  opset: 8,
  data: F32(2, 4),
  indices: I64(2, 1),
});
export const ovGatherElements = maker("openvino", "GatherElements", {
  opset: 6,
  data: F32(2, 3),
  indices: I64(2, 3),
});

export const ovConvert = maker("openvino", "Convert", { opset: 1, data: F32(4) });

/** A model of several nodes of ai.onnx, whose output is "y". */
export const onnxModel = (opset: number, spec: Partial<ModelSpec>): Model =>
  buildModel({ opsets: { "": opset }, nodes: [], outputs: { y: null }, ...spec });

/** A model of several nodes of openvino, all of the same opset. */
export function openvinoModel(opset: number, spec: Partial<ModelSpec>): Model {
  const nodes = (spec.nodes ?? []).map((node) => ({ domain: "openvino", ...node }));
  const model = buildModel({ opsets: {}, irVersion: 11, outputs: { y: null }, ...spec, nodes });
  for (const node of model.graph.nodes) node.opset = opset;
  return model;
}

/**
 * A model whose node takes the outputs of unknown nodes as inputs.
 * @param declare returns the declared type of each output, from the type of the replaced input; null for none
 */
export function behindUnknown(
  model: Model,
  declare: (type: TensorType) => TensorType | null,
): Model {
  const { graph } = model;
  const given = graph.inputs.map(({ name, type }) => ({ name, type, after: `${name}/unknown` }));
  const afterOf = (name: string): string => given.find((one) => one.name === name)?.after ?? name;
  const unknown = { op: "Unknown", domain: "com.example", opset: 1, name: "", attributes: {} };
  const nodes = [
    ...given.map(({ name, after }) => ({ ...unknown, inputs: [name], outputs: [after] })),
    ...graph.nodes.map((node) => ({ ...node, inputs: node.inputs.map(afterOf) })),
  ];
  const values = given.map(({ type, after }) => ({ name: after, type: type && declare(type) }));
  return { ...model, graph: { ...graph, nodes, values } };
}

/**
 * A model with a value that passes through a shape-preserving node, and whose certain type is weaker than its declared
 * type.
 * @param role the role of this value, which is then called "declared"
 * @param certain the type of the input before that node
 */
export function declaredAs(model: Model, role: Role, certain: TensorType): Model {
  const { graph } = model;
  const [node] = graph.nodes;
  const { type = null } = graph.inputs.find(({ name }) => name === role) ?? {};
  const renamed = node.inputs.map((name) => (name === role ? "declared" : name));
  const isOnnx = node.domain === "ai.onnx";
  const common = { name: "", inputs: [role], outputs: ["declared"], domain: node.domain };
  const to = { type: "string", value: certain.dtype === "int64" ? "i64" : "f32" } as const;
  const same: ModelNode = isOnnx
    ? { ...common, op: "Identity", attributes: {} }
    : { ...common, op: "Convert", opset: 1, attributes: { destination_type: to } };
  const inputs = graph.inputs.map((one) => (one.name === role ? { ...one, type: certain } : one));
  const nodes = [same, { ...node, inputs: renamed }];
  return { ...model, graph: { ...graph, inputs, nodes, values: [{ name: "declared", type }] } };
}
