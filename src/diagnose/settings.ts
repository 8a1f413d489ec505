/** Hypotheses about the call: another reduction, axis or operator, other batches, and the order of updates. */

import { normalizeAxis, normalizeBatchDims } from "../operators/checks.ts";
import { findOperators } from "../operators/registry.ts";
import { plainVersionOf, type Call } from "../call/call.ts";
import { isNumericStorage, reductionsOf } from "../tensor/dtype.ts";
import { product } from "../tensor/shape.ts";
import { absoluteOffsets } from "../plan/plan.ts";
import { Tensor } from "../tensor/tensor.ts";
import type { Hypothesis, Variant } from "./hypothesis.ts";
import { withSettings, type Rule } from "./rule.ts";

const hasSetting = ({ call: { version } }: Rule, name: string): boolean =>
  version.attributes.some((attribute) => attribute.name === name) ||
  version.inputs.some((input) => input.name === name);

const axisOf = ({ call, data }: Rule): number =>
  normalizeAxis(Number(call.settings.axis), data.shape.length, call.fields);

const batchDimsOf = ({ call, indices }: Rule): number =>
  Number(normalizeBatchDims(call.settings.batchDims, indices.shape));

export const SETTINGS: readonly Hypothesis[] = [
  {
    id: "first-wins",
    aspect: "order",
    variants: (rule) =>
      rule.updates === undefined || rule.call.settings.reduction !== "none"
        ? []
        : [
            {
              rule: { ...rule, stays: "first" },
              sentence: "of several updates of one target the first one stays, not the last",
            },
          ],
  },
  {
    id: "other-reduction",
    aspect: "reduction",
    variants: (rule) =>
      rule.updates === undefined
        ? []
        : reductionsOf(rule.data.dtype)
            .filter((reduction) => reduction !== rule.call.settings.reduction)
            .map((reduction) => ({
              rule: withSettings(rule, { reduction }),
              sentence: `the reduction was ${reduction}, not ${rule.call.settings.reduction}`,
            })),
  },
  {
    id: "without-self",
    aspect: "order",
    variants: (rule) =>
      rule.updates === undefined ||
      rule.call.settings.reduction === "none" ||
      !rule.call.settings.includeSelf
        ? []
        : [
            {
              rule: withSettings(rule, { includeSelf: false }),
              sentence:
                "the reduction began with the first update of a target, not with the value of data",
            },
          ],
  },
  {
    id: "updates-first",
    aspect: "order",
    variants: (rule) =>
      rule.updates === undefined ||
      ["none", "max", "min"].includes(rule.call.settings.reduction) ||
      !rule.call.settings.includeSelf
        ? []
        : [
            {
              rule: { ...rule, updatesFirst: true },
              sentence:
                "the updates of a target were combined with each other before they met data",
            },
          ],
  },
  { id: "other-axis", aspect: "operator", variants: otherAxes },
  { id: "batch-zero", aspect: "input", variants: batchZero },
  { id: "other-batch-dims", aspect: "operator", variants: otherBatchDims },
  { id: "other-operator", aspect: "operator", variants: otherOperators },
];

function otherAxes(rule: Rule): readonly Variant[] {
  if (!hasSetting(rule, "axis")) return [];
  const axis = axisOf(rule);
  return rule.data.shape.flatMap((_, other) =>
    other === axis
      ? []
      : [
          {
            rule: withSettings(rule, { axis: other }),
            sentence: `the axis was ${other}, not ${axis}`,
          },
        ],
  );
}

/** The first batch of indices for all: of a sequence's write indices each is a batch. */
function batchZero(rule: Rule): readonly Variant[] {
  const { call, indices } = rule;
  const { dtype, shape, size, data } = indices;
  const axes = call.operator.ownRules === true ? shape.length : batchDimsOf(rule);
  const batch = product(shape, axes);
  if (axes === 0 || size <= batch || !isNumericStorage(data)) return [];
  const first = data.slice();
  for (let p = batch; p < size; p += batch) first.copyWithin(p, 0, batch);
  return [
    {
      rule: { ...rule, indices: new Tensor(dtype, [...shape], size, first) },
      sentence: "the indices of the first batch were used for all batches",
    },
  ];
}

/**
 * Another number of batch axes gives an output of another rank. So it can be seen only where a runtime delivered the
 * shape that was expected nevertheless: the offset of the batch is missing, or the output is the beginning of a larger
 * one.
 */
function otherBatchDims(rule: Rule): readonly Variant[] {
  const { call, data, indices, shape } = rule;
  const batchDims = batchDimsOf(rule);
  if (batchDims === 0) return [];
  const { addressed } = call.operator.layout({ data: data.shape, indices }, call);
  const slice = product(data.shape, addressed);
  const reread = (other: number, batch: number, sentence: string): Variant => ({
    rule: {
      ...withSettings(rule, { batchDims: other }),
      rewrite(plan) {
        const all = absoluteOffsets(plan);
        const count = plan.source?.length ?? product(shape) / slice;
        const offsets = Uint32Array.from({ length: count }, (_, i) => {
          const place = i * slice;
          return (all[Math.floor(place / plan.slice)] % batch) + (place % plan.slice);
        });
        return { ...plan, slice, offsets, count, batches: 1, span: plan.size };
      },
    },
    sentence,
  });
  return [
    reread(
      batchDims,
      product(data.shape, batchDims),
      "all batches were gathered from the first batch of data",
    ),
    ...Array.from({ length: call.version.name === "GatherND" ? batchDims : 0 }, (_, other) =>
      reread(
        other,
        Infinity,
        `batch_dims was ${other}, not ${batchDims}, and the rest of the result was cut off`,
      ),
    ),
  ];
}

/** Operators of ai.onnx with a plain function, without the limits of their versions. */
function otherOperators(rule: Rule): readonly Variant[] {
  const { operator, settings, version } = rule.call;
  if (operator.ownRules === true) return [];
  return findOperators(
    (other) =>
      other.kind === operator.kind &&
      other.plan !== operator.plan &&
      other.plain !== undefined &&
      other.ownRules !== true,
  ).map((other) => {
    const { negativeIndices } = version;
    const call: Call = {
      ...rule.call,
      operator: other,
      version: { ...plainVersionOf(other), negativeIndices },
    };
    // A call without an axis has none to give to an operator with one.
    const axis = hasSetting(rule, "axis") ? settings.axis : 0;
    return {
      rule: { ...rule, call: { ...call, settings: { ...settings, axis } } },
      sentence: `${other.versions[0].name} was run, not ${version.name}`,
    };
  });
}
