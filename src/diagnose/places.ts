/** Hypotheses about indices: what a runtime makes of negative ones, of those outside their axis, and of wide ones. */

import { Tensor } from "../tensor/tensor.ts";
import { droppingOutside, wrapped, type Hypothesis, type Variant } from "./hypothesis.ts";
import { isFloating, type PlaceOf, type Rule } from "./rule.ts";

const within = (place: number, dim: number): number => (place >= 0 && place < dim ? place : NaN);

const clipped: PlaceOf = (place, dim) => Math.min(Math.max(place, 0), dim - 1);

const variant = (
  rule: Rule,
  placeOf: PlaceOf,
  sentence: string,
  more: Partial<Rule> = {},
): Variant => ({
  rule: { ...rule, placeOf, ...more },
  sentence,
});

const what = ({ updates }: Rule): string => (updates === undefined ? "elements" : "updates");

const negatives = (
  id: Hypothesis["id"],
  variants: (rule: Rule) => readonly Variant[],
): Hypothesis => ({
  id,
  aspect: "places",
  variants: (rule, { hasNegative }) => (hasNegative ? variants(rule) : []),
});

/** Negative indices as the version counts them. */
const ownPlace = ({ call: { version } }: Rule): PlaceOf =>
  version.negativeIndices ? wrapped : (index) => index;

const outside = (
  id: Hypothesis["id"],
  variants: (rule: Rule, hasNegative: boolean) => readonly Variant[],
): Hypothesis => ({
  id,
  aspect: "places",
  variants: (rule, { hasOutside, hasNegative }) => (hasOutside ? variants(rule, hasNegative) : []),
});

const negativeDropped: PlaceOf = (index, dim) => (index < 0 ? NaN : within(index, dim));

/** Of a scatter an update that is left out writes nothing; of a gather the element is 0 or NaN. */
const filled = (rule: Rule, placeOf: PlaceOf, which: string): readonly Variant[] =>
  rule.updates === undefined
    ? [
        variant(rule, placeOf, `elements with ${which} are 0`),
        ...(isFloating(rule.data)
          ? [variant(rule, placeOf, `elements with ${which} are NaN`, { fill: "nan" })]
          : []),
      ]
    : [variant(rule, placeOf, `updates with ${which} were left out`)];

/** What is out of range comes first: where both are true of a call, it is the rarer thing. */
export const PLACES: readonly Hypothesis[] = [
  outside("out-of-range-clipped", (rule, hasNegative) => [
    variant(
      rule,
      (index, dim) => clipped(ownPlace(rule)(index, dim), dim),
      "indices outside their axis were taken for the nearest place",
    ),
    ...(hasNegative
      ? [variant(rule, clipped, "indices were clipped to their axis, negative ones to 0")]
      : []),
  ]),
  outside("out-of-range-dropped", (rule) =>
    rule.updates === undefined
      ? []
      : filled(
          rule,
          droppingOutside(rule.call.version.negativeIndices),
          "an index outside its axis",
        ),
  ),
  outside("out-of-range-filled", (rule) =>
    rule.updates === undefined
      ? filled(
          rule,
          droppingOutside(rule.call.version.negativeIndices),
          "an index outside its axis",
        )
      : [],
  ),
  {
    id: "indices-truncated",
    aspect: "places",
    variants(rule, { hasOutside }) {
      const { data, shape, size, dtype } = rule.indices;
      if (!hasOutside || !(data instanceof BigInt64Array)) return [];
      const low = data.map((index) => BigInt.asIntN(32, index));
      if (!data.some((index, p) => index !== low[p])) return [];
      const indices = new Tensor(dtype, [...shape], size, low);
      const sentence = "indices were cut to their low 32 bits";
      return [
        variant({ ...rule, indices }, droppingOutside(rule.call.version.negativeIndices), sentence),
      ];
    },
  },
  outside("flat-offset", (rule) => [
    variant(
      rule,
      ownPlace(rule),
      "indices outside their axis were taken at their offset in the whole tensor",
    ),
  ]),
  negatives("negative-dropped", (rule) => filled(rule, negativeDropped, "a negative index")),
  negatives("negative-clamped", (rule) => [
    variant(
      rule,
      (index, dim) => (index < 0 ? 0 : within(index, dim)),
      "negative indices were taken for 0",
    ),
  ]),
  negatives("negative-refused", (rule) => [
    variant(
      rule,
      negativeDropped,
      `the first negative index ended the call: later ${what(rule)} are missing`,
      {
        refusal: "ends",
      },
    ),
    variant(
      rule,
      negativeDropped,
      `a negative index undid the whole call: all ${what(rule)} are missing`,
      {
        refusal: "undoes",
      },
    ),
  ]),
  negatives("flat-offset", (rule) => [
    variant(
      rule,
      (index) => index,
      "negative indices were taken at their offset in the whole tensor",
    ),
  ]),
];
