/** Models that a runtime computes right, wrong or not at all, as the bytes of ONNX files. */

import { tensor, zeros, type Tensor } from "ndscatter";
import {
  buildModel,
  writeModel,
  type Attribute,
  type Graph,
  type ModelNodeSpec,
} from "ndscatter/onnx";
import { bytes, file, text } from "../../../test/support/onnx-encoder.ts";
import { external, head, initializer, MODEL, TENSOR } from "../../../test/support/onnx-parts.ts";

const floats = { dtype: "float32", shape: [4] } as const;

const modelOf = (
  nodes: readonly ModelNodeSpec[],
  constants: Readonly<Record<string, Tensor>>,
): Uint8Array =>
  writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs: { data: floats },
      constants,
      nodes,
      outputs: Object.fromEntries(nodes.map(({ outputs: [name] }) => [name, null])),
    }),
  );

const CONSTANTS = {
  yes: tensor("bool", [], [true]),
  where: tensor("int64", [3, 1], [1, 3, 1]),
  rows: tensor("int64", [2], [3, 0]),
  nans: tensor("float32", [3], [NaN, 5, 7]),
};

/** The runtime loses a NaN when it compares a later update with it. */
const losesNan: ModelNodeSpec = {
  ...{ op: "ScatterND", name: "lose", inputs: ["data", "where", "nans"], outputs: ["lost"] },
  attributes: { reduction: "max" },
};

const bodyOf = (graph: Graph): Attribute => ({ type: "other", value: "GRAPH", graphs: [graph] });

const branchOf = (nodes: readonly ModelNodeSpec[], output: string): Graph => {
  const [{ outputs: _, ...first }] = nodes;
  const { graph } = buildModel({
    opsets: { "ai.onnx": 18 },
    nodes: [{ ...first, outputs: [output] }],
    outputs: { [output]: null },
  });
  return graph;
};

/** Two nodes that are equal, one of them in a body, one that differs in a body, and one that does not run. */
export const mixedModel = (): Uint8Array => {
  const take = { op: "Gather", name: "take", inputs: ["data", "rows"], outputs: ["taken"] };
  const put = {
    ...{ op: "ScatterND", name: "put", inputs: ["data", "where", "nans"], outputs: ["written"] },
  };
  const choose: ModelNodeSpec = {
    ...{ op: "If", name: "choose", inputs: ["yes"], outputs: ["chosen"] },
    attributes: {
      then_branch: bodyOf(branchOf([losesNan], "then")),
      else_branch: bodyOf(branchOf([put], "else")),
    },
  };
  return modelOf([take, put, choose], CONSTANTS);
};

/** A loop whose body has three gathers, each of the one before. */
export const loopModel = (): Uint8Array => {
  const rows = { first: [1, 2, 3, 0], second: [3, 3, 1, 0], third: [2, 0, -1, 2] };
  const gathers = Object.keys(rows).map((name, at, all): ModelNodeSpec => ({
    ...{ op: "Gather", name, inputs: [at === 0 ? "row" : `of ${all[at - 1]}`, name] },
    outputs: [`of ${name}`],
  }));
  const { graph } = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: {
      trip: { dtype: "int64", shape: [] },
      goes: { dtype: "bool", shape: [] },
      row: floats,
    },
    constants: Object.fromEntries(
      Object.entries(rows).map(([name, all]) => [name, tensor("int64", [4], all)]),
    ),
    nodes: [{ op: "Identity", inputs: ["goes"], outputs: ["on"] }, ...gathers],
    outputs: { on: null, "of third": null },
  });
  const loop: ModelNodeSpec = {
    ...{ op: "Loop", name: "loop", inputs: ["trips", "yes", "data"], outputs: ["end"] },
    attributes: { body: bodyOf(graph) },
  };
  return modelOf([loop], { trips: tensor("int64", [], [2]), yes: CONSTANTS.yes });
};

/** A node that differs in the last of many rows, after others that share a target. */
export const largeModel = (rows: number): Uint8Array => {
  const where = Array.from({ length: rows }, (_, at) => (at < 100 ? at % 7 : at));
  const values = Array.from({ length: rows }, (_, at) => at);
  where[rows - 1] = where[rows - 2];
  values[rows - 2] = NaN;
  return writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs: { data: { dtype: "float32", shape: [rows] } },
      constants: {
        where: tensor("int64", [rows, 1], where),
        nans: tensor("float32", [rows], values),
      },
      nodes: [losesNan],
      outputs: { lost: null },
    }),
  );
};

/** A gather from a table of many bytes. */
export const heavyModel = (bytes: number): Uint8Array => {
  const table = zeros("float32", [bytes / 4096, 1024]);
  return modelOf([{ op: "Gather", name: "take", inputs: ["table", "rows"], outputs: ["taken"] }], {
    ...{ table, rows: CONSTANTS.rows },
  });
};

/** A gather of one element, whose index is in another file; `isWrong` adds a node that differs. */
export function farModel(location: string, isWrong = false): Uint8Array {
  const take = { op: "Gather", name: "take", inputs: ["data", "far"], outputs: ["taken"] };
  const far = initializer(head("int64", 1), text(TENSOR.name, "far"), external({ location }));
  // Concatenated messages are one message with the fields of both.
  const { where, nans } = CONSTANTS;
  const model = isWrong ? modelOf([take, losesNan], { where, nans }) : modelOf([take], {});
  return file(model, bytes(MODEL.graph, far));
}

/** A model without scatters and gathers. */
export const plainModel = (): Uint8Array =>
  modelOf([{ op: "Add", inputs: ["data", "data"], outputs: ["sum"] }], {});

/** A model with an operator that no runtime knows. */
export const unknownModel = (): Uint8Array =>
  modelOf(
    [
      { op: "Gather", name: "take", inputs: ["data", "rows"], outputs: ["taken"] },
      { op: "Sparkle", domain: "ai.onnx", inputs: ["taken"], outputs: ["made"] },
    ],
    { rows: CONSTANTS.rows },
  );
