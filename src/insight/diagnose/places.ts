/** Defines hypotheses about the handling of negative indices, out-of-range indices and wide integers. */

import { Tensor } from "../../core/tensor/tensor.ts";
import {
  droppingOutside,
  hypothesis,
  ownPlace,
  takesNegative,
  within,
  type Change,
  type Hypothesis,
} from "./hypothesis.ts";
import { isFloating, withSettings, type PlaceOf, type Rule } from "./rule.ts";

/** Clips an index to its axis. For a sequence, the position of the whole sequence is clipped as well. */
const clipped: PlaceOf = (place, dim, after, rest) =>
  Math.min(Math.max(place, after), dim - 1 - rest);

const what = ({ updates }: Rule): string => (updates === undefined ? "elements" : "updates");

/** Returns a hypothesis for calls that contain a certain kind of index. */
const places =
  (which: "hasNegative" | "hasOutside") =>
  (
    id: Hypothesis["id"],
    changesOf: (rule: Rule, hasNegative: boolean) => readonly Change[],
  ): Hypothesis =>
    hypothesis(id, "places", (rule, facts) =>
      facts[which] ? changesOf(rule, facts.hasNegative) : [],
    );

const negatives = /* @__PURE__ */ places("hasNegative");
const outside = /* @__PURE__ */ places("hasOutside");

const negativeDropped: PlaceOf = (index, dim) => (index < 0 ? NaN : within(index, dim));

const countedFrom = (place: string, endOf: (dim: number) => number): Change => [
  `negative indices were counted from ${place}`,
  { placeOf: (index, dim) => (index < 0 ? index + endOf(dim) : within(index, dim)) },
];

/**
 * Returns changes that skip some indices. In a scatter, nothing is written. In a gather, the element becomes 0 or NaN.
 */
function filled(rule: Rule, placeOf: PlaceOf, which: string): readonly Change[] {
  if (rule.updates !== undefined) return [[`updates with ${which} were skipped`, { placeOf }]];
  const zero: Change = [`elements with ${which} are 0`, { placeOf }, "zero"];
  return isFloating(rule.data)
    ? [zero, [`elements with ${which} are NaN`, { placeOf, fill: "nan" }]]
    : [zero];
}

const leftOut =
  (isScatter: boolean) =>
  (rule: Rule): readonly Change[] =>
    (rule.updates !== undefined) === isScatter
      ? filled(rule, droppingOutside(rule), "an index outside its axis")
      : [];

/**
 * Hypotheses about index values. Hypotheses about out-of-range indices come first, because these are rarer than
 * negative indices in calls that have both.
 */
export const PLACES: readonly Hypothesis[] = [
  outside("out-of-range-clipped", (rule, hasNegative) => {
    const own = ownPlace(rule);
    const nearest: Change = [
      "indices outside their axis were replaced with the nearest valid index",
      { placeOf: (index, dim, ...sequence) => clipped(own(index, dim), dim, ...sequence) },
      "nearest-place",
    ];
    return hasNegative
      ? [
          nearest,
          [
            "indices were clipped to the range of their axis, and negative indices were replaced with 0",
            { placeOf: clipped },
          ],
        ]
      : [nearest];
  }),
  outside("out-of-range-dropped", leftOut(true)),
  outside("out-of-range-filled", leftOut(false)),
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
      "outside",
    ],
  ]),
  outside("other-mode", (rule) =>
    rule.call.version.indexForm === "sequences" && rule.call.settings.mode === "linear"
      ? [
          [
            "the mode was circular, not linear",
            { ...withSettings(rule, { mode: "circular" }), placeOf: null },
          ],
        ]
      : [],
  ),
  negatives("negative-dropped", (rule) => filled(rule, negativeDropped, "a negative index")),
  negatives("negative-clamped", () => [
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
  negatives("negative-refused", (rule) => [
    [
      `the first negative index ended the call: later ${what(rule)} are missing`,
      { placeOf: negativeDropped, refusal: "ends" },
    ],
    [
      `a negative index undid the whole call: all ${what(rule)} are missing`,
      { placeOf: negativeDropped, refusal: "undoes" },
    ],
  ]),
  negatives("flat-offset", () => [
    [
      "negative indices were used as flat offsets into the whole tensor",
      { placeOf: (index) => index },
    ],
  ]),
];
