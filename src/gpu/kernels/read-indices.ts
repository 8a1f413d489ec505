/**
 * Converts indices on the GPU to targets, as `kernels/read-indices.ts` does on the host. Each index is wrapped and
 * compared with its axis before use, and the first bad index is written to the call's status.
 */

import type { Bounds, IndexAxis, IndexJob, IndexRules } from "../../core/plan/indices.ts";

/** The codes that `checkedIndex` returns. */
const RIGHT = 0;
const LEFT_OUT = 1;
const BAD = 2;

/** Returns WGSL that loads the words of an index, of which an int64 has 2, and sign-extends an int32. */
const wordsOf = (step: 1 | 2): string =>
  step === 2
    ? "let low = indices[2u * at]; let high = indices[2u * at + 1u];"
    : "let low = indices[at]; let high = select(0u, 0xffffffffu, (low >> 31u) == 1u);";

/** The WGSL statements for an index outside its axis of `dim` elements. */
const OUTSIDE: Readonly<Record<Bounds, string>> = {
  error: `return vec2(0u, ${BAD}u);`,
  clip: `return select(vec2(select(dim - 1u, 0u, isNegative), ${RIGHT}u), vec2(0u, ${BAD}u), dim == 0u);`,
  drop: `return vec2(0u, ${LEFT_OUT}u);`,
  fill: `return vec2(0u, ${LEFT_OUT}u);`,
};

/** Returns a WGSL function that converts an index to a coordinate on an axis, with a code such as `RIGHT` or `BAD`. */
const checkedIndex = ({ negative, bounds }: IndexRules, step: 1 | 2): string => `
fn checkedIndex(at: u32, dim: u32) -> vec2<u32> {
  ${wordsOf(step)}
  let isNegative = (high >> 31u) == 1u;
  if (high == 0u && low < dim) { return vec2(low, ${RIGHT}u); }
  ${
    negative
      ? // The sum overflows where the index is not below -dim.
        `if (high == 0xffffffffu && low + dim < low) { return vec2(low + dim, ${RIGHT}u); }`
      : `if (isNegative) { return vec2(0u, ${BAD}u); }`
  }
  ${OUTSIDE[bounds]}
}`;

/** Returns WGSL statements that check an index and add its contribution to `t`. */
const readIndex = (at: string, j: number): string => `  {
    let index = checkedIndex(${at}, params.dim${j});
    if (index.y == ${BAD}u) { atomicMin(&status[params.slot], ${at} + 1u); }
    isLeft = isLeft || index.y != ${RIGHT}u;
    t += index.x * params.stride${j};
  }`;

const TAIL = "  targets[i] = select(t, NOWHERE, isLeft);";

/** Returns the parameters of all axes, with strides in slices. */
const axisParams = (axes: readonly IndexAxis[], slice: number): Record<string, number> =>
  Object.fromEntries(
    axes.flatMap(({ dim, stride }, j) => [
      [`dim${j}`, dim],
      [`stride${j}`, slice === 0 ? 0 : stride / slice],
    ]),
  );

/** The WGSL code that converts indices to targets, in invocation `i` of `count`. */
export interface Reading {
  /** The unique name of the text. */
  readonly name: string;
  readonly params: Readonly<Record<string, number>>;
  readonly declarations: string;
  readonly body: string;
  readonly count: number;
  /** True if the code reads any index. */
  readonly isChecked: boolean;
}

/** Returns the code for reading indices of `step` words, which produces one target per index or tuple. */
export function jobReading(job: IndexJob, slice: number, rules: IndexRules, step: 1 | 2): Reading {
  const { kind, count } = job;
  const { negative, bounds } = rules;
  const { axes, sizes, steps } =
    kind === "tuples"
      ? { axes: job.axes, sizes: [], steps: [] }
      : { axes: [job.axis], sizes: job.shape, steps: job.steps };
  const k = axes.length;
  // An empty tuple addresses all of data, so no index is read.
  const isChecked = k > 0;
  // The coordinates are computed from the last axis to the first, by dividing the remaining position by the size of
  // each axis.
  const coordinates = sizes.map(
    (_, d) => `  t += (rest % params.size${d}) * params.step${d}; rest /= params.size${d};`,
  );
  const reads = axes.map((_, j) => readIndex(`(i * ${k}u + ${j}u)`, j));
  const begin = ["  var t = 0u;", "  var rest = i;", "  var isLeft = false;"];
  return {
    name: `${kind} of ${k} and ${sizes.length}, ${negative ? "negative" : "not negative"}, ${bounds}, ${step}`,
    ...{ count, isChecked },
    params: {
      ...axisParams(axes, slice),
      ...Object.fromEntries(sizes.map((size, d) => [`size${d}`, size])),
      ...Object.fromEntries(steps.map((one, d) => [`step${d}`, one])),
    },
    declarations: isChecked ? checkedIndex(rules, step) : "",
    body: [...begin, ...coordinates.toReversed(), ...reads, TAIL].join("\n"),
  };
}

/** A WGSL function that computes `index` modulo `dim` bit by bit, because WGSL has no 64-bit integers. */
const MODULO = `
fn modulo(low: u32, high: u32, dim: u32) -> u32 {
  var rest = 0u;
  for (var bit = 0u; bit < 64u; bit++) {
    let word = select(low, high, bit < 32u);
    let isOver = (rest >> 31u) == 1u;
    rest = (rest << 1u) | ((word >> (31u - (bit & 31u))) & 1u);
    if (isOver || rest >= dim) { rest -= dim; }
  }
  return rest;
}`;

/** Returns WGSL that finds the start of a sample's sequence and checks its position. */
const startOf = (step: 1 | 2, isCircular: boolean): string => `
${isCircular ? MODULO : ""}
fn startOf(at: u32) -> vec2<u32> {
  ${wordsOf(step)}
  ${
    isCircular
      ? `if (params.dim == 0u) { return vec2(0u, ${RIGHT}u); }
  if ((high >> 31u) == 0u) { return vec2(modulo(low, high, params.dim), ${RIGHT}u); }
  // The division uses the magnitude of a negative number, because the remainder has the sign of the divisor.
  let rest = modulo(~low + 1u, ~high + select(0u, 1u, low == 0u), params.dim);
  return vec2(select(params.dim - rest, 0u, rest == 0u), ${RIGHT}u);`
      : `return vec2(low, select(${BAD}u, ${RIGHT}u, high == 0u && low <= params.dim - params.count));`
  }
}`;

/**
 * Returns the code for reading the positions of sequences in a TensorScatter call. `samples` is the number of
 * sequences, each of `count` slices on an axis of `dim` slices. `perSample` is the number of batches in a Plan that
 * share the position of one sample, and `positions` the number of positions in all batches, or 0 for empty slices.
 */
export function sequenceReading(
  params: Readonly<Record<"samples" | "dim" | "count" | "perSample" | "positions", number>>,
  isCircular: boolean,
  step: 1 | 2,
): Reading {
  return {
    name: `sequences, ${isCircular ? "circular" : "linear"}, ${step}`,
    params,
    declarations: startOf(step, isCircular),
    body: `  if (i < params.samples) {
    if (startOf(i).y == ${BAD}u) { atomicMin(&status[params.slot], i + 1u); }
  }
  if (i < params.positions) {
    let start = startOf(i / params.count / params.perSample).x;
    let place = i % params.count;
    // The sum of the start and the offset may exceed 32 bits.
    let room = params.dim - start;
    targets[i] = select(place - room, start + place, place < room);
  }`,
    count: Math.max(params.samples, params.positions),
    isChecked: true,
  };
}
