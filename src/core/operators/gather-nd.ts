/** GatherND of ai.onnx: index tuples select the slices of data that form the output, batch by batch. */

import { TensorError } from "../errors.ts";
import { part, type PartialShape } from "../tensor/shape.ts";
import { byTuples } from "./addressing.ts";
import { BATCH_DIMS } from "./attributes.ts";
import { plainVersion } from "./settings.ts";
import { batchDimsKey, checkBatches, checkNotScalar, checkTupleLength } from "./checks.ts";
import {
  versionsOf,
  operatorBy,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type Term,
} from "./operator.ts";
import { joinTerms } from "./terms.ts";
import { T15, T16 } from "./types.ts";

const SUMMARY =
  "Gathers one element or slice of data for each index tuple in the last axis of indices. " +
  "A tuple of k indices selects an element if k is the rank of data, or a slice if k is smaller. " +
  "The output has the shape indices.shape[:-1] ++ data.shape[k:].";

const BATCHED =
  "Gathers one element or slice of data for each index tuple in the last axis of indices. " +
  "Data and indices share the first batch_dims axes, and a tuple of k indices addresses only its own batch. " +
  "The output has the shape indices.shape[:-1] ++ data.shape[batch_dims + k:].";

const COMMON = {
  name: "GatherND",
  indexForm: "tuples",
  inputs: [
    { name: "data", type: "T", description: "Data has rank r >= 1." },
    {
      name: "indices",
      type: "int64",
      description:
        "Indices have rank q >= 1 and contain tuples of k >= 1 values, each in [-s, s-1] for an axis of size s.",
    },
  ],
} as const;

const output = (rank: string) => [
  { name: "output", type: "T", description: `The output has rank ${rank}.` },
];

const withBatches = () => ({
  summary: BATCHED,
  attributes: [BATCH_DIMS],
  outputs: output("q + r - k - 1 - batch_dims"),
});

const versions = /* @__PURE__ */ versionsOf("ai.onnx", COMMON, () => [
  {
    sinceVersion: 11,
    summary: SUMMARY,
    attributes: [],
    outputs: output("q + r - k - 1"),
    typeConstraints: [T15],
  },
  { ...withBatches(), sinceVersion: 12, typeConstraints: [T15] },
  { ...withBatches(), sinceVersion: 13, typeConstraints: [T16] },
]);

export const gatherND: Operator = /* @__PURE__ */ operatorBy(byTuples, {
  kind: "gather",
  versions,
  plain: /* @__PURE__ */ plainVersion(versions),
  inferShape: (inputs, call) => joined(termsOfGatherND(inputs, call)),
  derive: (inputs, call) => [{ of: "output", terms: termsOfGatherND(inputs, call) ?? [] }],
});

const joined = (terms: readonly Term[] | null): PartialShape => terms && joinTerms(terms);

/**
 * Returns the two terms of the output shape; null if the rank of an input or the tuple length is not known.
 * @throws TensorError `rank` or `shape-mismatch`
 */
export function termsOfGatherND(
  { data, indices }: InputShapes,
  { settings: { batchDims }, fields }: OperatorCall,
): Term[] | null {
  checkNotScalar("data", data, fields);
  checkNotScalar("indices", indices, fields);
  const rank = Math.min(data?.length ?? Infinity, indices?.length ?? Infinity);
  if (batchDims >= rank) {
    throw new TensorError(
      "rank",
      `the number of batch dimensions is ${batchDims}, but must be below ${rank}, ` +
        "the smaller rank of data and indices",
      { ...fields, key: batchDimsKey(fields), got: batchDims, expected: [0, rank - 1] },
    );
  }
  const k = indices === null ? null : indices[indices.length - 1];
  if (typeof k === "number") {
    checkTupleLength(indices, k, 1, data === null ? Infinity : data.length - batchDims, fields);
  }
  if (data === null || indices === null) return null;
  const batches = checkBatches(data, indices, batchDims, fields);
  if (typeof k !== "number") return null;
  return [
    {
      text: "indices.shape[:-1]",
      shape: [...batches, ...part(indices, batchDims, indices.length - 1)],
    },
    { text: `data.shape[${batchDims + k}:]`, shape: part(data, batchDims + k) },
  ];
}
