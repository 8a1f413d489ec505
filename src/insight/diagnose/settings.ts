/**
 * Defines hypotheses about the call: a different reduction, axis or operator, different batches, or a different update
 * order.
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
  type Reduction,
} from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";
import { absoluteOffsets } from "../../core/plan/plan.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { hypothesis, type Change, type Hypothesis } from "./hypothesis.ts";
import { flatPlan, withSettings, type Rule } from "./rule.ts";

export const hasSetting = ({ call: { version } }: Rule, name: string): boolean =>
  version.attributes.some((attribute) => attribute.name === name) ||
  version.inputs.some((input) => input.name === name);

export const axisOf = ({ call, data }: Rule): number =>
  normalizeAxis(Number(call.settings.axis), data.shape.length, call.fields);

export const batchDimsOf = ({ call, indices }: Rule): number =>
  Number(normalizeBatchDims(call.settings.batchDims, indices.shape));

/** Wraps a function that returns changes for scatters, so that it returns an empty list for gathers. */
const ofScatter =
  (changesOf: (rule: Rule, reduction: Reduction) => readonly Change[]) =>
  (rule: Rule): readonly Change[] =>
    rule.updates === undefined ? [] : changesOf(rule, rule.call.settings.reduction);

/** Data types used in OpenVINO 2026.4.1 computations that visibly affect results. */
const WORKING: Readonly<Partial<Record<DType, DType>>> = {
  int16: "int32",
  uint16: "int32",
  uint32: "int32",
  int64: "int32",
  uint64: "int32",
  float64: "float32",
};

/** Returns the data type in which OpenVINO computes a call, or null for the data type of data. */
function workingType({ data: { dtype }, call }: Rule): DType | null {
  // A boolean difference is true unless its value is 0. Boolean sums are computed as logical operations.
  if (dtype === "bool") return call.settings.reduction === "sub" ? "uint8" : null;
  return WORKING[dtype] ?? null;
}

/** Returns true for a scatter with empty index tuples, each of which addresses the whole data tensor. */
export const isWhole = ({ updates, indices: { shape }, call }: Rule): boolean =>
  updates !== undefined && call.version.indexForm === "tuples" && shape[shape.length - 1] === 0;

export const SETTINGS: readonly Hypothesis[] = [
  // A negative or out-of-range index is a more likely reason for skipping all updates or elements.
  hypothesis("whole-ignored", "places", (rule) =>
    isWhole(rule)
      ? [["empty index tuples, which address all of data, were ignored", { placeOf: () => NaN }]]
      : [],
  ),
  hypothesis("not-applied", "places", (rule, { hasNegative, hasOutside }) =>
    hasNegative || hasOutside || isWhole(rule)
      ? []
      : [
          [
            rule.updates === undefined
              ? "no element was read, so the result is 0"
              : "no update was applied, so the result equals data",
            { placeOf: () => NaN },
          ],
        ],
  ),
  hypothesis(
    "first-wins",
    "order",
    ofScatter((_, reduction) =>
      reduction === "none"
        ? [["the first update of each repeated target was kept, not the last", { stays: "first" }]]
        : [],
    ),
  ),
  hypothesis(
    "other-reduction",
    "reduction",
    ofScatter((rule, own) =>
      reductionsOf(rule.data.dtype)
        .filter((reduction) => reduction !== own)
        .map((reduction) => [
          `the reduction was ${reduction}, not ${own}`,
          withSettings(rule, { reduction }),
        ]),
    ),
  ),
  hypothesis(
    "without-self",
    "order",
    ofScatter((rule, reduction) =>
      reduction === "none" || !rule.call.settings.includeSelf
        ? []
        : [
            [
              "the reduction began with the first update of a target, not with the value of data",
              withSettings(rule, { includeSelf: false }),
            ],
          ],
    ),
  ),
  hypothesis(
    "updates-first",
    "order",
    ofScatter((rule, reduction) =>
      ["none", "max", "min"].includes(reduction) || !rule.call.settings.includeSelf
        ? []
        : [
            [
              "a target's updates were combined with each other before they were combined with data",
              { updatesFirst: true },
            ],
          ],
    ),
  ),
  hypothesis("other-type", "type", (rule) => {
    const type = workingType(rule);
    return type === null
      ? []
      : [[`elements of ${rule.data.dtype} were computed as ${type}`, { computedIn: type }]];
  }),
  hypothesis("mean-truncated", "reduction", ({ data: { dtype }, call: { settings } }) =>
    settings.reduction === "mean" && integerRange(dtype) !== null
      ? [
          [
            "a mean of integers was rounded toward 0, not toward minus infinity",
            { truncates: true },
          ],
        ]
      : [],
  ),
  hypothesis("first-of-slice", "operator", firstOfSlices),
  hypothesis("zeros-for-data", "input", ofScatter(zerosForData)),
  hypothesis("other-axis", "operator", otherAxes),
  hypothesis("batch-zero", "input", batchZero),
  hypothesis("other-batch-dims", "operator", otherBatchDims),
  hypothesis("other-operator", "operator", otherOperators),
];

/**
 * Returns changes that match functions without a data input, such as `tf.scatter_nd`, which also adds repeated updates.
 */
function zerosForData(rule: Rule, reduction: Reduction): readonly Change[] {
  const { dtype, shape, size, data } = rule.data;
  if (!isNumericStorage(data)) return [];
  const zeros = {
    get data() {
      return new Tensor(dtype, [...shape], size, allocate(dtype, size));
    },
  };
  const begins: Change = ["the result began with zeros, not with data", zeros];
  return reduction === "none" && reductionsOf(dtype).includes("add")
    ? [
        begins,
        [
          "the result began with zeros, not with data, and repeated updates were added",
          { ...withSettings(rule, { reduction: "add" }), ...zeros },
        ],
      ]
    : [begins];
}

export function otherAxes(rule: Rule): readonly Change[] {
  if (!hasSetting(rule, "axis")) return [];
  const axis = axisOf(rule);
  return rule.data.shape.flatMap((_, other): readonly Change[] =>
    other === axis
      ? []
      : [[`the axis was ${other}, not ${axis}`, withSettings(rule, { axis: other })]],
  );
}

/** Returns changes in which all batches use the first batch of indices. For sequences, each write index is a batch. */
function batchZero(rule: Rule): readonly Change[] {
  const { call, indices } = rule;
  const { dtype, shape, size, data } = indices;
  const axes = call.version.indexForm === "sequences" ? shape.length : batchDimsOf(rule);
  const batch = product(shape, axes);
  if (axes === 0 || size <= batch || !isNumericStorage(data)) return [];
  const first = data.slice();
  for (let p = batch; p < size; p += batch) first.copyWithin(p, 0, batch);
  const same = new Tensor(dtype, [...shape], size, first);
  return [["the indices of the first batch were used for all batches", { indices: same }]];
}

/**
 * Returns changes of the number of batch axes. Such a change usually produces an output with a different rank. The
 * fault is visible only if the output shape is as expected, because the runtime omits the batch offset or interprets
 * tuples at another axis.
 */
function otherBatchDims(rule: Rule): readonly Change[] {
  const { call, data, indices } = rule;
  const batchDims = batchDimsOf(rule);
  if (batchDims === 0) return [];
  const { addressed } = call.operator.layout({ data: data.shape, indices }, call);
  const slice = product(data.shape, addressed);
  const reread = (sentence: string, other: number, batch: number): Change => [
    sentence,
    {
      ...withSettings(rule, { batchDims: other }),
      rewrite(plan) {
        const offsets = absoluteOffsets(plan).map((offset) => offset % batch);
        return flatPlan(offsets, slice, plan.size);
      },
    },
  ];
  return [
    reread(
      "all batches were gathered from the first batch of data",
      batchDims,
      product(data.shape, batchDims),
    ),
    ...Array.from({ length: call.version.indexForm === "tuples" ? batchDims : 0 }, (_, other) =>
      reread(`index tuples began at axis ${other}, not ${batchDims}`, other, Infinity),
    ),
  ];
}

/** Returns a change in which a gather copies only the first element of each slice. */
function firstOfSlices(rule: Rule): readonly Change[] {
  const { updates, call, data } = rule;
  if (updates !== undefined || call.version.indexForm !== "slices") return [];
  const what = isNumericStorage(data.data) ? "0" : "empty";
  return [
    [
      `only the first element of each slice was copied, and the others are ${what}`,
      {
        rewrite(plan) {
          const offsets = absoluteOffsets(plan);
          const source = offsets.map((_, p) => p * plan.slice);
          return { ...flatPlan(offsets, 1, plan.size), source };
        },
      },
    ],
  ];
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
    const { negativeIndices } = version;
    const own = { ...plainVersionOf(other), negativeIndices };
    const call: Call = {
      ...rule.call,
      operator: other,
      version: own,
      signature: signatureOf(own),
    };
    // Axis 0 is the default if only the other operator has an axis.
    const axis = hasSetting(rule, "axis") ? settings.axis : 0;
    return [
      `${other.versions[0].name} was run, not ${version.name}`,
      { call: { ...call, settings: { ...settings, axis } } },
    ];
  });
}
