/**
 * What `inspect` finds of one node, from its operator to the shapes of its inputs; of constant indices see
 * `findings-of-indices.ts`. A node has what its builder gives it, except for what the row says.
 */

import { TensorError } from "../../src/core/errors.ts";
import type { Constant, Finding, FindingId, Model } from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import {
  BF16,
  F16,
  F32,
  gatherElements,
  gatherND,
  I32,
  I64,
  i32,
  i64,
  ovGather,
  ovGatherElements,
  scatter,
  scatterElements,
  scatterND,
  scatterUpdate,
  tensorScatter,
  TEXT,
  UNRANKED,
} from "../support/node-models.ts";

export interface FindingRow {
  readonly ids: readonly FindingId[];
  readonly of: Model;
  /** A part of the first sentence. */
  readonly says?: RegExp;
  /** Fields of the first finding. */
  readonly fields?: Partial<Finding>;
  /**
   * What is found where no type is known of the inputs that are no constants. By default the same without findings
   * that follow from types.
   */
  readonly untyped?: readonly FindingId[];
}

const failing = (code: "malformed-file" | "unsupported-model", sentence: string): Constant => ({
  name: "",
  dtype: "int64",
  shape: [2, 1],
  read: () => {
    throw new TensorError(code, sentence);
  },
});
export const UNREADABLE = failing("malformed-file", "its bytes are not there");
export const OUT_OF_REACH = failing("unsupported-model", "its data are in another file");

// prettier-ignore
export const FINDING_ROWS: readonly FindingRow[] = [
  // The operator.
  { ids: ["no-opset"], of: scatterND({ opsets: { "com.example": 1 } }), says: /no version of the domain ai\.onnx/ },
  { ids: ["operator-newer-than-opset"], of: scatterND({ opset: 10 }),
    says: /opset 10 of ai\.onnx does not have this operator yet; opset 11 introduced it/,
    fields: { code: "unknown-operator", got: 10 } },
  { ids: ["version-not-known"], of: ovGather({ opset: 7 }), fields: { severity: "note" },
    says: /opset 7 of openvino has an older version of this operator, which is not supported; the oldest supported version is 8/ },
  { ids: ["operator-deprecated"], of: scatter({ opset: 13 }), says: /^ScatterElements replaces it$/ },
  { ids: [], of: scatter({ opset: 10 }) },
  // Attributes.
  { ids: ["attribute-newer-than-opset"], of: scatterND({ opset: 13, attributes: { reduction: "add" } }),
    says: /reduction came with version 16/ },
  { ids: ["attribute-newer-than-opset"], of: gatherND({ opset: 11, attributes: { batch_dims: 1 } }),
    says: /batch_dims came with version 12/ },
  { ids: ["attribute-unknown"], of: scatterND({ attributes: { axis: 1 } }),
    says: /unknown attribute "axis"; its attributes are reduction/ },
  { ids: ["attribute-invalid"], of: gatherElements({ attributes: { axis: "1" } }), says: /axis must be an integer/ },
  { ids: ["attribute-invalid"], of: gatherElements({ attributes: { axis: { type: "float", value: 1 } } }),
    says: /axis must not contain floats/ },
  { ids: ["attribute-invalid"], of: gatherElements({ attributes: { axis: { type: "floats", value: [1] } } }) },
  { ids: ["attribute-unknown"], of: gatherElements({ attributes: { way: { type: "float", value: 1 } } }) },
  { ids: ["attribute-invalid"], of: gatherND({ attributes: { batch_dims: -1 } }), says: /at least 0, got -1/,
    fields: { code: "attribute", got: -1 } },
  { ids: ["reduction-newer-than-opset"], of: scatterND({ opset: 17, attributes: { reduction: "max" } }),
    says: /"max" came with version 18/ },
  { ids: ["reduction-unknown"], of: scatterND({ attributes: { reduction: "median" } }), fields: { code: "reduction" },
    says: /reduction must be .*, got "median"; several runtimes treat it as none/ },
  { ids: ["reduction-unknown"], of: scatterND({ opset: 16, attributes: { reduction: "median" } }) },
  { ids: ["reduction-unknown"], of: scatterND({ attributes: { reduction: "" } }) },
  { ids: ["reduction-unknown"], of: scatterND({ attributes: { reduction: "sum" } }) },
  { ids: ["reduction-undefined"], says: /the reduction of string must be one of .*, got "mul"/,
    of: scatterND({
      ...{ data: TEXT(8, 4), indices: i64([2, 1], 0, 1), updates: TEXT(2, 4) },
      attributes: { reduction: "mul" },
    }) },
  { ids: ["may-race"], of: scatterND({ attributes: { reduction: "add" } }), fields: { input: "indices" },
    says: /^may race on more than one thread if indices repeat; ndscatter verify tests this$/ },
  { ids: [], of: scatterND({ indices: i64([2, 1], 0, 1), attributes: { reduction: "add" } }) },
  { ids: [], of: scatterND({ attributes: { reduction: "none" } }) },
  { ids: [], of: scatterElements({ attributes: { reduction: "add" } }) },
  { ids: ["attribute-missing"], of: ovGatherElements(), says: /the attribute axis must be given/,
    fields: { code: "attribute" } },
  { ids: ["attribute-invalid"], of: ovGatherElements({ attributes: { axis: "last" } }) },
  { ids: ["attribute-invalid"], of: tensorScatter({ attributes: { mode: "ring" } }),
    says: /mode must be one of linear, circular, got "ring"/ },
  // Inputs and outputs.
  { ids: ["input-count"], of: scatterND({ updates: null }), says: /the required input updates is missing/, fields: { input: "updates" } },
  { ids: ["input-count"], of: scatterND({ indices: null }), fields: { input: "indices" } },
  { ids: ["input-count"], of: gatherND({ updates: F32(1) }), fields: { got: 3 },
    says: /the node has 3 inputs, but GatherND has 2: data, indices/ },
  { ids: [], of: tensorScatter({ indices: null }) },
  { ids: ["output-count"], of: gatherND({ outputs: ["y", "z"] }), fields: { got: 2, code: "shape-mismatch" },
    says: /the node has 2 outputs, but GatherND has 1/ },
  { ids: ["data-type-not-taken"], of: gatherND({ opset: 12, data: BF16(2, 3) }),
    says: /got bfloat16; version 13 accepts it/, fields: { code: "dtype", input: "data" } },
  { ids: ["index-type-not-taken"], of: scatterND({ indices: I32(2, 1) }), says: /indices must be int64, got int32/,
    fields: { input: "indices" } },
  { ids: ["index-type-not-taken", "index-out-of-range"], untyped: ["index-type-not-taken"],
    of: scatterND({ indices: i32([2, 1], 0, 9) }) },
  { ids: ["index-type-not-taken"], untyped: ["index-type-not-taken"],
    of: scatterND({ indices: tensor("float32", [2, 1], [0, 9]) }) },
  { ids: ["index-type-not-taken", "data-types-differ"], of: scatterND({ indices: I32(2, 1), updates: F16(2, 4) }) },
  { ids: ["data-types-differ"], of: scatterND({ updates: F16(2, 4) }),
    says: /updates must have the data type of data, float32, got float16/ },
  // A data type that is not taken is no pattern for the others.
  { ids: ["data-type-not-taken"], of: scatterND({ opset: 11, data: BF16(8, 4), updates: F32(2, 4) }) },
  // Shapes, as far as they are known.
  { ids: ["rank-does-not-fit"], of: scatterND({ indices: I64(2, 3), updates: UNRANKED }),
    says: /length of an index tuple, must be from 0 to 2, got 3/ },
  { ids: ["rank-does-not-fit"], of: gatherND({ data: UNRANKED, indices: I64() }), says: /indices must have rank 1 or more/ },
  { ids: ["axis-out-of-range"], fields: { axis: 2, expected: [-2, 1] },
    of: scatterElements({ data: UNRANKED, indices: I64("N", 2), updates: UNRANKED, attributes: { axis: 2 } }) },
  { ids: ["shape-does-not-fit"], of: scatterND({ indices: I64("N", 1), updates: F32("N", 5) }),
    says: /= \[N, 4\], got \[N, 5\]/ },
  { ids: ["shape-does-not-fit"], says: /the first 1 axes/,
    of: gatherND({ data: F32(2, null, 4), indices: I64(3, 5, 1), attributes: { batch_dims: 1 } }) },
  { ids: ["axis-out-of-range"], of: ovGather({ data: F32(2, 3), axis: i32([], -3) }),
    fields: { got: -3, expected: [-2, 1] } },
  { ids: ["shape-does-not-fit"], of: ovGather({ axis: i32([2], 0, 1) }), untyped: ["shape-does-not-fit"],
    says: /axis must be a scalar or have the shape \[1\], got \[2\]/ },
  { ids: ["shape-does-not-fit"], of: ovGather({ axis: I32(3) }), says: /got \[3\]/ },
  { ids: ["index-type-not-taken"], of: ovGather({ axis: F32() }), says: /axis must be one of/ },
  // The value of an axis that is no integer is not asked for.
  { ids: ["index-type-not-taken"], untyped: ["index-type-not-taken"],
    of: ovGather({ axis: tensor("float32", [], [9]) }) },
  { ids: ["constant-unreadable"], of: ovGather({ axis: { ...UNREADABLE, shape: [] } }) },
  { ids: ["indices-not-checked"], of: ovGather({ axis: { ...OUT_OF_REACH, shape: [] } }) },
  { ids: ["shape-does-not-fit"], says: /= \[2, 4\], got \[2, 3\]/,
    of: scatterUpdate({ data: F32(2, 3), indices: I64(4), updates: F32(2, 3), axis: i64([1], 1) }) },
  // The declared type of the model's output.
  { ids: ["declared-type-differs"], of: scatterND({ declared: F32("N", 5) }), fields: { severity: "wrong" },
    says: /"y" is declared to be float32\[N, 5\], but the inputs imply float32\[8, 4\]/ },
  { ids: ["declared-type-differs"], of: scatterND({ declared: F16(8, 4) }) },
  { ids: ["declared-type-differs"], of: scatterND({ declared: F32(8) }) },
  { ids: ["declared-type-differs"], of: scatterND({ data: UNRANKED, declared: F16(8, 4) }),
    says: /but the inputs imply float32\[\.\.\.\]/ },
  { ids: [], of: scatterND({ declared: F32("N", null) }) },
  { ids: [], of: scatterND({ declared: UNRANKED }) },
  // Several at once.
  { ids: ["attribute-unknown", "index-type-not-taken", "data-types-differ", "shape-does-not-fit"],
    of: scatterND({ indices: I32(2, 1), updates: F16(2, 5), attributes: { mode: 1 } }) },
  { ids: ["attribute-unknown", "input-count", "output-count"],
    of: scatterND({ updates: null, outputs: ["y", "z"], attributes: { mode: 1 } }) },
  // Nothing.
  { ids: [], of: scatterND() },
  { ids: [], of: gatherElements({ opset: 11, data: UNRANKED, indices: I32(2) }) },
];
