/**
 * GatherND of openvino: like GatherND of ai.onnx, but with indices of any integer type. Version 5 fuses the batch axes
 * of the output.
 */

import { isKnown, part, product } from "../tensor/shape.ts";
import { byTuples } from "./addressing.ts";
import { BATCH_DIMS } from "./attributes.ts";
import { termsOfGatherND } from "./gather-nd.ts";
import {
  versionsOf,
  operatorBy,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type Term,
} from "./operator.ts";
import { joinTerms } from "./terms.ts";
import { T_OPENVINO_ANY, TIND_ANY } from "./types.ts";

const SUMMARY =
  "Gathers one element or slice of data for each index tuple in the last axis of indices. " +
  "Data and indices share the first batch_dims axes, and each tuple addresses only its own batch.";

const inputs = (range: string) => [
  { name: "data", type: "T", description: "Data has rank r >= 1." },
  {
    name: "indices",
    type: "Tind",
    description: `Indices have rank q >= 1, with tuples of k >= 1 indices in ${range}.`,
  },
];

const COMMON = {
  name: "GatherND",
  indexForm: "tuples",
  attributes: [BATCH_DIMS],
  outputs: [
    { name: "output", type: "T", description: "The output holds the gathered elements or slices." },
  ],
  typeConstraints: [T_OPENVINO_ANY, TIND_ANY],
} as const;

// Version 8 has accepted negative indices since release 2025.3.
const versions = /* @__PURE__ */ versionsOf("openvino", COMMON, () => [
  {
    sinceVersion: 5,
    summary: `${SUMMARY} The batch axes of the output are fused into a single axis.`,
    inputs: inputs("[0, s-1]"),
    negativeIndices: false,
    fusesBatches: true,
  },
  {
    sinceVersion: 8,
    summary: SUMMARY,
    inputs: inputs("[-s, s-1]"),
    negativeIndices: true,
  },
]);

export const openvinoGatherND: Operator = /* @__PURE__ */ operatorBy(byTuples, {
  kind: "gather",
  versions,
  inferShape(inputs, call) {
    const terms = fusedTerms(inputs, call);
    return terms && joinTerms(terms);
  },
  derive: (inputs, call) => [{ of: "output", terms: fusedTerms(inputs, call) ?? [] }],
});

/**
 * Returns the terms of the output shape like `termsOfGatherND`, but with a single batch axis if the version fuses
 * batch axes.
 */
function fusedTerms(inputs: InputShapes, call: OperatorCall): Term[] | null {
  const terms = termsOfGatherND(inputs, call);
  const { batchDims: b } = call.settings;
  if (terms === null || b < 2 || call.version.fusesBatches !== true) return terms;
  const [{ shape }, tail] = terms;
  const batches = part(shape, 0, b);
  return [
    {
      text: `[product(indices.shape[:${b}])]`,
      shape: [isKnown(batches) ? product(batches) : null],
    },
    { text: `indices.shape[${b}:-1]`, shape: part(shape, b) },
    tail,
  ];
}
