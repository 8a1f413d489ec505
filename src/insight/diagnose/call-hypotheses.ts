/**
 * Lists hypotheses about the call: a different reduction, axis or operator, different batches, a different update
 * order, or inputs whose elements were read in a different order.
 */

import { normalizeAxis, normalizeBatchDims } from "../../core/operators/shapes.ts";
import { findOperators } from "../../core/operators/registry.ts";
import { signatureOf } from "../../core/operators/signature.ts";
import { plainVersionOf, type Call } from "../../core/call/call.ts";
import {
  allocate,
  integerRange,
  isNumericStorage,
  reductionsOf,
  type DType,
} from "../../core/tensor/dtype.ts";
import { product, sameShape, stridesOf } from "../../core/tensor/shape.ts";
import { absoluteOffsets, planOf, type Plan } from "../../core/plan/plan.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import {
  always,
  changedInput,
  hypothesis,
  isReduced,
  isReplacing,
  isScatter,
  isWhole,
  type Change,
  type Hypothesis,
} from "./hypothesis.ts";
import { pick } from "./predict.ts";
import { withSettings, type Rule } from "./rule.ts";

const hasSetting = ({ call: { version } }: Rule, name: string): boolean =>
  version.attributes.some((attribute) => attribute.name === name) ||
  version.inputs.some((input) => input.name === name);

export const axisOf = ({ call, data }: Rule): number =>
  normalizeAxis(Number(call.settings.axis), data.shape.length, call.fields);

export const batchDimsOf = ({ call, indices }: Rule): number =>
  Number(normalizeBatchDims(call.settings.batchDims, indices.shape));

const reductionOf = ({ call }: Rule): string => call.settings.reduction;

const includesSelf = (rule: Rule): boolean => isReduced(rule) && rule.call.settings.includeSelf;

/** Skips every update or element. */
const NOWHERE: Partial<Rule> = { placeOf: () => NaN };

/** Data types that OpenVINO 2026.4.1 computes as int32, which visibly affects results. */
const AS_INT32: ReadonlySet<DType> = /* @__PURE__ */ new Set([
  "int16",
  "uint16",
  "uint32",
  "int64",
  "uint64",
]);

/** Returns the data type in which OpenVINO computes a call, or null for the data type of data. */
function workingType(rule: Rule): DType | null {
  const { dtype } = rule.data;
  // A boolean difference is true unless its value is 0. Boolean sums are computed as logical operations.
  if (dtype === "bool") return reductionOf(rule) === "sub" ? "uint8" : null;
  if (dtype === "float64") return "float32";
  return AS_INT32.has(dtype) ? "int32" : null;
}

export const SETTINGS: readonly Hypothesis[] = [
  // A negative or out-of-range index is a more likely reason for skipping all updates or elements.
  hypothesis("whole-ignored", "places", isWhole, [
    ["empty index tuples, which address all of data, were ignored", NOWHERE],
  ]),
  hypothesis(
    "not-applied",
    "places",
    (rule, { hasNegative, hasOutside }) => !hasNegative && !hasOutside && !isWhole(rule),
    (rule) => [
      isScatter(rule)
        ? ["no update was applied, so the result equals data", NOWHERE]
        : ["no element was read, so the result is 0", NOWHERE],
    ],
  ),
  hypothesis("first-wins", "order", isReplacing, [
    ["the first update of each repeated target was kept, not the last", { stays: "first" }],
  ]),
  hypothesis("other-reduction", "reduction", isScatter, (rule) =>
    reductionsOf(rule.data.dtype)
      .filter((reduction) => reduction !== reductionOf(rule))
      .map((reduction) => [
        `the reduction was ${reduction}, not ${reductionOf(rule)}`,
        withSettings(rule, { reduction }),
      ]),
  ),
  hypothesis("without-self", "order", includesSelf, (rule) => [
    [
      "the reduction began with the first update of a target, not with the value of data",
      withSettings(rule, { includeSelf: false }),
    ],
  ]),
  hypothesis(
    "updates-first",
    "order",
    (rule) => includesSelf(rule) && !["max", "min"].includes(reductionOf(rule)),
    [
      [
        "a target's updates were combined with each other before they were combined with data",
        { updatesFirst: true },
      ],
    ],
  ),
  hypothesis("other-type", "type", always, (rule) => {
    const computedIn = workingType(rule);
    const sentence = `elements of ${rule.data.dtype} were computed as ${computedIn}`;
    return computedIn === null ? [] : [[sentence, { computedIn }]];
  }),
  hypothesis(
    "mean-truncated",
    "reduction",
    (rule) => reductionOf(rule) === "mean" && integerRange(rule.data.dtype) !== null,
    [["a mean of integers was rounded toward 0, not toward minus infinity", { truncates: true }]],
  ),
  hypothesis(
    "first-of-slice",
    "operator",
    (rule) => !isScatter(rule) && rule.call.version.indexForm === "slices",
    firstOfSlices,
  ),
  hypothesis("zeros-for-data", "input", isScatter, zerosForData),
  hypothesis("other-axis", "operator", always, otherAxes),
  hypothesis("batch-zero", "input", always, batchZero),
  hypothesis("other-batch-dims", "operator", always, otherBatches),
  hypothesis("other-operator", "operator", always, otherOperators),
];

export const ROLES = ["data", "indices", "updates"] as const;

export const INPUTS: readonly Hypothesis[] = [
  hypothesis("transposed-input", "input", always, (rule) =>
    ROLES.flatMap((role) => reordered(rule, role)),
  ),
];

/**
 * Returns changes that match functions without a data input, such as `tf.scatter_nd`, which also adds repeated updates.
 */
function zerosForData(rule: Rule): readonly Change[] {
  const { dtype, shape, size, data } = rule.data;
  if (!isNumericStorage(data)) return [];
  const sentence = "the result began with zeros, not with data";
  const zeros = changedInput(
    "data",
    () => new Tensor(dtype, [...shape], size, allocate(dtype, size)),
  );
  const summed = { ...withSettings(rule, { reduction: "add" }), ...zeros };
  return isReplacing(rule) && reductionsOf(dtype).includes("add")
    ? [
        [sentence, zeros],
        [`${sentence}, and repeated updates were added`, summed],
      ]
    : [[sentence, zeros]];
}

export function otherAxes(rule: Rule): readonly Change[] {
  if (!hasSetting(rule, "axis")) return [];
  const own = axisOf(rule);
  return othersBelow(rule.data.shape.length, own).map((axis) => [
    `the axis was ${axis}, not ${own}`,
    withSettings(rule, { axis }),
  ]);
}

/** Returns changes of the number of batch axes, which usually produce an output with a different rank. */
export function otherBatchDims(rule: Rule): readonly Change[] {
  if (!hasSetting(rule, "batch_dims")) return [];
  const own = batchDimsOf(rule);
  const most = Math.min(rule.data.shape.length, rule.indices.shape.length);
  return othersBelow(most, own).map((batchDims) => [
    `batch_dims was ${batchDims}, not ${own}`,
    withSettings(rule, { batchDims }),
  ]);
}

const othersBelow = (most: number, own: number): number[] =>
  [...Array(most).keys()].filter((other) => other !== own);

/** Returns changes in which all batches use the first batch of indices. For sequences, each write index is a batch. */
function batchZero(rule: Rule): readonly Change[] {
  const { call, indices } = rule;
  const { shape, size } = indices;
  const axes = call.version.indexForm === "sequences" ? shape.length : batchDimsOf(rule);
  const batch = product(shape, axes);
  if (axes === 0 || size <= batch) return [];
  const places = Uint32Array.from({ length: size }, (_, p) => p % batch);
  const same = changedInput("indices", () => pick(indices, places, shape));
  return [["the indices of the first batch were used for all batches", same]];
}

/**
 * Returns changes of the number of batch axes that do not change the output's shape. The runtime omits the batch offset
 * or interprets tuples at another axis.
 */
function otherBatches(rule: Rule): readonly Change[] {
  const { call, data, indices } = rule;
  const batchDims = batchDimsOf(rule);
  if (batchDims === 0) return [];
  const { addressed } = call.operator.layout({ data: data.shape, indices }, call);
  const slice = product(data.shape, addressed);
  const reread = (sentence: string, other: number, batch: number): Change => {
    const rewrite = (plan: Plan): Plan =>
      planOf(
        absoluteOffsets(plan).map((offset) => offset % batch),
        slice,
        plan.size,
      );
    return [sentence, { ...withSettings(rule, { batchDims: other }), rewrite }];
  };
  const inBatch = product(data.shape, batchDims);
  const tuples = call.version.indexForm === "tuples" ? [...Array(batchDims).keys()] : [];
  return [
    reread("all batches were gathered from the first batch of data", batchDims, inBatch),
    ...tuples.map((other) =>
      reread(`index tuples began at axis ${other}, not ${batchDims}`, other, Infinity),
    ),
  ];
}

/** Returns a change in which a gather copies only the first element of each slice. */
function firstOfSlices({ data: { dtype } }: Rule): readonly Change[] {
  const others = dtype === "string" ? "empty" : "0";
  const sentence = `only the first element of each slice was copied, and the others are ${others}`;
  return [[sentence, { rewrite: firstElements }]];
}

function firstElements(plan: Plan): Plan {
  const offsets = absoluteOffsets(plan);
  const source = offsets.map((_, p) => p * plan.slice);
  return planOf(offsets, 1, plan.size, source);
}

/** Returns changes to other ai.onnx operators with plain functions, without version restrictions. */
export function otherOperators(rule: Rule): readonly Change[] {
  const { operator, settings, version } = rule.call;
  if (version.indexForm === "sequences") return [];
  return findOperators(
    ({ kind, plain }) =>
      kind === operator.kind &&
      plain !== undefined &&
      plain.indexForm !== version.indexForm &&
      plain.indexForm !== "sequences",
  ).map((other) => {
    const own = { ...plainVersionOf(other), negativeIndices: version.negativeIndices };
    const call: Call = {
      ...rule.call,
      operator: other,
      version: own,
      signature: signatureOf(own),
      // Axis 0 is the default if only the other operator has an axis.
      settings: { ...settings, axis: hasSetting(rule, "axis") ? settings.axis : 0 },
    };
    return [`${other.versions[0].name} was run, not ${version.name}`, { call }];
  });
}

/**
 * Returns changes that read a column-major input as row-major, read a row-major input as column-major, or swap two axes
 * of equal size.
 */
function reordered(rule: Rule, role: (typeof ROLES)[number]): readonly Change[] {
  const input = rule[role];
  if (input === undefined || input.shape.filter((dim) => dim > 1).length < 2) return [];
  const { shape } = input;
  const isPalindrome = sameShape(shape, shape.toReversed());
  const columns = stridesOf(shape.toReversed()).toReversed();
  // Both directions give the same result if the shape is a palindrome.
  const changes = (isPalindrome ? [false] : [false, true]).map((isInverse): Change => [
    `${role} was read in the wrong memory order (C instead of Fortran, or the reverse)`,
    changedInput(role, () => moved(input, columns, isInverse)),
  ]);
  if (isPalindrome && shape.length === 2) return changes;
  const swaps = equalAxes(shape).map(([a, b]): Change => [
    `${role} was transposed: axes ${a} and ${b} were swapped`,
    changedInput(role, () => swapped(input, a, b)),
  ]);
  return [...changes, ...swaps];
}

/** Swaps two tensor axes of equal size. */
export function swapped(input: Tensor, a: number, b: number): Tensor {
  const strides = stridesOf(input.shape);
  [strides[a], strides[b]] = [strides[b], strides[a]];
  return moved(input, strides, false);
}

/** Returns the pairs of axes with equal sizes. Sizes below 2 are omitted, because swapping them changes nothing. */
export function equalAxes(shape: readonly number[]): readonly (readonly [number, number])[] {
  return shape.flatMap((size, a) =>
    shape.flatMap((other, b) => (a < b && size === other && size > 1 ? [[a, b] as const] : [])),
  );
}

/**
 * Reorders tensor elements. Each element is read from the position that the given strides assign to its coordinates, or
 * written to this position if `isInverse` is true.
 */
function moved(input: Tensor, strides: readonly number[], isInverse: boolean): Tensor {
  const { shape, size } = input;
  const offsets = new Uint32Array(size);
  const at = shape.map(() => 0);
  let offset = 0;
  for (let p = 0; p < size; p++) {
    if (isInverse) offsets[offset] = p;
    else offsets[p] = offset;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= shape[axis] * strides[axis];
      at[axis] = 0;
    }
  }
  return pick(input, offsets, shape);
}
