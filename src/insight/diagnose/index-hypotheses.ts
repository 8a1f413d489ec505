/**
 * Lists hypotheses about indices: negative and out-of-range indices, wide integers, and mistaken coordinates, such as
 * counting from 1 or listing the last axis first.
 */

import { differenceAt } from "../../core/tensor/compare.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import {
  always,
  hypothesis,
  isScatter,
  type Change,
  type Changes,
  type Hypothesis,
} from "./hypothesis.ts";
import { pick } from "./predict.ts";
import {
  attempted,
  droppingOutside,
  isFloating,
  keepsAny,
  ownPlace,
  placingOf,
  takesNegative,
  within,
  withSettings,
  type PlaceOf,
  type Rule,
} from "./rule.ts";

/** Returns a hypothesis for calls that contain a certain kind of index. */
const places =
  (which: "hasNegative" | "hasOutside") =>
  (id: Hypothesis["id"], changes: Changes): Hypothesis =>
    hypothesis(id, "places", (_, facts) => facts[which], changes);

const negatives = /* @__PURE__ */ places("hasNegative");
const outside = /* @__PURE__ */ places("hasOutside");

/** Clips an index to its axis. For a sequence, the position of the whole sequence is clipped as well. */
const clipped: PlaceOf = (place, dim, after, rest) =>
  Math.min(Math.max(place, after), dim - 1 - rest);

const negativeDropped: PlaceOf = (index, dim) => (index < 0 ? NaN : within(index, dim));

const countedFrom = (place: string, endOf: (dim: number) => number): Change => [
  `negative indices were counted from ${place}`,
  { placeOf: (index, dim) => (index < 0 ? index + endOf(dim) : within(index, dim)) },
];

/**
 * Returns changes that skip some indices. In a scatter, nothing is written. In a gather, the element becomes 0 or NaN.
 */
function filled(rule: Rule, placeOf: PlaceOf, which: string): readonly Change[] {
  if (isScatter(rule)) return [[`updates with ${which} were skipped`, { placeOf }]];
  const zero: Change = [`elements with ${which} are 0`, { placeOf }];
  return isFloating(rule.data)
    ? [zero, [`elements with ${which} are NaN`, { placeOf, fill: "nan" }]]
    : [zero];
}

const leftOut = (rule: Rule): readonly Change[] =>
  filled(rule, droppingOutside(rule), "an index outside its axis");

/**
 * Hypotheses about index values. Hypotheses about out-of-range indices come first, because these are rarer than
 * negative indices in calls that have both.
 */
export const PLACES: readonly Hypothesis[] = [
  outside("out-of-range-clipped", (rule, { hasNegative }) => {
    const own = ownPlace(rule);
    const nearest: Change = [
      "indices outside their axis were replaced with the nearest valid index",
      { placeOf: (index, dim, ...sequence) => clipped(own(index, dim), dim, ...sequence) },
    ];
    const sentence =
      "indices were clipped to the range of their axis, and negative indices were replaced with 0";
    return hasNegative ? [nearest, [sentence, { placeOf: clipped }]] : [nearest];
  }),
  outside("out-of-range-dropped", (rule) => (isScatter(rule) ? leftOut(rule) : [])),
  outside("out-of-range-filled", (rule) => (isScatter(rule) ? [] : leftOut(rule))),
  outside("indices-truncated", (rule) => {
    const { data, shape, size, dtype } = rule.indices;
    if (!(data instanceof BigInt64Array)) return [];
    const low = data.map((index) => BigInt.asIntN(32, index));
    if (!data.some((index, p) => index !== low[p])) return [];
    const indices = new Tensor(dtype, [...shape], size, low);
    const placeOf = droppingOutside(rule);
    return [["indices were truncated to their low 32 bits", { indices, placeOf }]];
  }),
  outside("flat-offset", (rule) => [
    [
      "out-of-range indices were used as flat offsets into the whole tensor",
      { placeOf: ownPlace(rule) },
    ],
  ]),
  outside("other-mode", (rule) => {
    const { version, settings } = rule.call;
    const circular = { ...withSettings(rule, { mode: "circular" }), placeOf: null };
    return version.indexForm === "sequences" && settings.mode === "linear"
      ? [["the mode was circular, not linear", circular]]
      : [];
  }),
  negatives("negative-dropped", (rule) => filled(rule, negativeDropped, "a negative index")),
  negatives("negative-clamped", [
    [
      "negative indices were treated as 0",
      { placeOf: (index, dim) => (index < 0 ? 0 : within(index, dim)) },
    ],
  ]),
  negatives("negative-counted", (rule) =>
    takesNegative(rule)
      ? [
          countedFrom("the second-to-last position", (dim) => dim - 1),
          ...[...new Set(rule.data.shape)].map((size) =>
            countedFrom(`the end of an axis of size ${size}`, () => size),
          ),
        ]
      : [countedFrom("the end, which this version does not support", (dim) => dim)],
  ),
  negatives("negative-refused", (rule) => {
    const what = isScatter(rule) ? "updates" : "elements";
    return [
      [
        `the first negative index ended the call: later ${what} are missing`,
        { placeOf: negativeDropped, refusal: "ends" },
      ],
      [
        `a negative index undid the whole call: all ${what} are missing`,
        { placeOf: negativeDropped, refusal: "undoes" },
      ],
    ];
  }),
  negatives("flat-offset", [
    [
      "negative indices were used as flat offsets into the whole tensor",
      { placeOf: (index) => index },
    ],
  ]),
];

/**
 * All hypotheses about indices. The hypotheses that `PLACES` does not contain also affect valid indices, so they do not
 * determine which cells of an invalid call have no exact value.
 */
export const INDICES: readonly Hypothesis[] = [
  hypothesis("swapped-coordinates", "places", always, swapped),
  ...PLACES,
  hypothesis("indices-from-one", "places", always, (rule) => [
    ...counted(rule, "indices were counted from 1: index 1 was the first position", -1),
    ...counted(rule, "1 was added to each index: index 0 was the second position", 1),
  ]),
];

/** Returns changes that add `by` to each index. */
function counted(rule: Rule, sentence: string, by: number): readonly Change[] {
  const skips = shifted(rule, by, false);
  const skipped = `${sentence}, and indices outside their axis were skipped`;
  return [
    [sentence, { placeOf: shifted(rule, by, true) }],
    ...(keepsAny(rule, skips) ? [[skipped, { placeOf: skips }] as const] : []),
  ];
}

/**
 * Returns a function that adds `by` to an index and returns its position. With `wraps`, a negative sum counts from the
 * end.
 */
function shifted(rule: Rule, by: number, wraps: boolean): PlaceOf {
  const { version, settings } = rule.call;
  if (version.indexForm === "sequences") {
    const isRing = settings.mode === "circular";
    return (index, dim) => (isRing ? (((index + by) % dim) + dim) % dim : within(index + by, dim));
  }
  const negative = wraps && takesNegative(rule);
  return (index, dim) => {
    const place = index + by;
    // The addition happens before the sign test, so -1 becomes 0.
    return within(negative && place < 0 ? place + dim : place, dim);
  };
}

/**
 * Returns changes that reorder tuple coordinates, by reversing all coordinates or by swapping two adjacent coordinates.
 * The sentence contains the first tuple that a different order changes, for example `[0, 2] led to [2, 0]`.
 */
function swapped(rule: Rule): readonly Change[] {
  const { indices, call } = rule;
  const k = indices.shape.at(-1) ?? 0;
  if (call.version.indexForm !== "tuples" || k < 2) return [];
  const straight = [...Array(k).keys()];
  const orders: readonly (readonly [order: readonly number[], how: string])[] = [
    [straight.toReversed(), "were read in reverse order"],
    ...(k === 2 ? [] : [0, k - 2]).map(
      (j) => [straight.with(j, j + 1).with(j + 1, j), `${j} and ${j + 1} were swapped`] as const,
    ),
  ];
  const dims = attempted(() => placingOf(rule))?.axes.map(({ dim }) => dim);
  if (dims === undefined) return [];
  return orders.flatMap(([order, how]): Change[] => {
    const places = Uint32Array.from({ length: indices.size }, (_, p) => p - (p % k) + order[p % k]);
    const turned = pick(indices, places, indices.shape);
    const first = differenceAt(indices, turned);
    if (first === -1) return [];
    const shown = [indices, turned].map(({ data }) => {
      const begin = first - (first % k);
      return `[${[...data.slice(begin, begin + k)].join(", ")}]`;
    });
    const sentence = `the coordinates of index tuples ${how}: ${shown.join(" led to ")}`;
    const whole: Change = [sentence, { indices: turned, placeOf: null }];
    const leavesOut = droppingOutside(rule);
    // Swapped coordinates can be out of range only if the axes have different sizes.
    const isInside = order.every((from, j) => dims[from] === dims[j]);
    if (isInside || !keepsAny({ ...rule, indices: turned }, leavesOut)) return [whole];
    const skipped = `${sentence}, and tuples outside data were skipped`;
    return [whole, [skipped, { indices: turned, placeOf: leavesOut }]];
  });
}
