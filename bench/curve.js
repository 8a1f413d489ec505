/**
 * Measures the cost of a call by its number of updates. The contestants are the library, called in three ways,
 * hand-written JavaScript, and the peers, from 1 update to 10^7: ScatterND and GatherND of float32 with one int64 index
 * per update.
 */

import { check } from "./check.js";
import { scalars, slices, tryHand } from "./hand.js";
import { measure, shortCalls } from "./measure.js";
import { heapTensors } from "./ours.js";
import { median, ratioOfRounds, round } from "./statistics.js";
import { inputsOf } from "./workloads.js";

/** Powers of 4, and 10^7. */
export const SIZES = [...Array.from({ length: 12 }, (_, power) => 4 ** power), 1e7];
/** The sizes of a quick run: powers of 16. */
export const QUICK_SIZES = SIZES.slice(0, 11).filter((_, power) => power % 2 === 0);
export const SLICES = [1, 16, 128];
export const KINDS = ["none", "add", "gather"];
/** The most elements of updates, 40 MB, so longer slices end at fewer updates. */
const MOST_ELEMENTS = 1e7;
/** The same limit for a quick run. */
export const QUICK_ELEMENTS = 2e6;
/** The most updates for which a hand-written loop without checks runs. */
const MOST_UNCHECKED = 4096;
/** The least updates for a `new` whose result is disposed, which frees large memory at once. */
const LEAST_DISPOSED = 65_536;

/**
 * The most input sets that take turns, so that no loop knows its inputs; together they must fit into the cache. A set
 * that does not fit is used alone.
 */
const MOST_SETS = 8;
const CACHE = 2 ** 19;

/** Calls with more elements have fewer rounds, because each lasts as long as many short ones. */
const LARGE = { elements: 1e6, samples: 5 };
/** Calls with at most this many elements take microseconds. */
const SHORT = 16_384;
/** Milliseconds that each kind of call runs before measuring, so that it gets compiled. */
const WARM_UP = 500;

/** Returns the number of slices in data: 4 times the updates, but 8 for up to 4 updates. */
export const intoOf = (/** @type {number} */ updates) => (updates <= 4 ? 8 : 4 * updates);

/**
 * @typedef {Pick<Point, "kind" | "slice" | "updates" | "into">} Task
 * @typedef {object} Point
 * @property {"none" | "add" | "gather"} kind a scatter's reduction, or a gather
 * @property {number} slice elements per update
 * @property {number} updates
 * @property {number} into the slices of data
 * @property {Record<string, number>} times nanoseconds per call, by contestant: medians
 * @property {Record<string, import("./statistics.js").Ratio>} ratios of the ways to call the library to the checked
 * hand-written loop, within a round
 * @property {import("./statistics.js").Ratio & { name: string }} [peer] the best peer over `new`
 */

/** Each way to call the library, with the hand-written loop to compare it with. */
export const BESIDE = {
  new: "hand new",
  into: "hand into",
  plan: "hand into",
  disposed: "hand new",
};

/**
 * @param {{ sizes?: number[], slices?: number[], kinds?: string[], most?: number }} wanted
 * @returns {Task[]}
 */
export function pointsOf({
  sizes = SIZES,
  slices: lengths = SLICES,
  kinds = KINDS,
  most = MOST_ELEMENTS,
}) {
  return lengths.flatMap((slice) =>
    kinds.flatMap((kind) =>
      sizes
        .filter((updates) => updates * slice <= most)
        .map((updates) => ({ kind, slice, updates, into: intoOf(updates) })),
    ),
  );
}

/**
 * Returns the peers of the curve, each with one thread. More threads cost more per call, and do not help small calls.
 */
export const peersOfCurve = (peers) =>
  peers.filter(({ name }) => ["onnxruntime-node 1", "tfjs wasm"].includes(name));

/**
 * @param {{ lib: any, engine: any }} library `engine` has the operators as functions: the library itself, or an engine
 * @param {readonly import("./peers/index.js").Peer[]} peers
 * @param {readonly Task[]} points
 * @param {import("./measure.js").Pace} pace
 * @param {(message: string) => void} tell
 * @returns {Promise<{ points: Point[], findings: { row: string, name: string, ours: boolean, message: string }[] }>}
 */
export async function measureCurve({ lib, engine }, peers, points, pace, tell) {
  tryHand();
  useAllTypes(lib, engine);
  const loops = new Map(SLICES.map((slice) => [slice, slice === 1 ? scalars : slices(slice)]));
  const measured = [];
  const findings = [];
  for (const kind of new Set(points.map((point) => point.kind))) {
    const point = { kind, slice: 1, updates: 4, into: intoOf(4) };
    const { row, sets } = setsOf(point);
    const contestants = [
      ...ours(lib, engine, row, point, sets),
      ...hand(scalars[kind], point, sets),
    ];
    await measure(contestants, { ...paceOf(point, pace), samples: 1, warmUp: WARM_UP });
  }
  for (const [position, point] of points.entries()) {
    const { kind, slice, updates, into } = point;
    const title = `curve, ${kind}, slices of ${slice}, ${updates} into ${into}`;
    tell(`${position + 1}/${points.length} ${title}`);
    const { row, sets } = setsOf(point);
    const loop = loops.get(slice) ?? slices(slice);
    const own = [...ours(lib, engine, row, point, sets), ...hand(loop[kind], point, sets)];
    const others = [];
    for (const peer of peers) {
      const contestant = await peer.prepare(row, sets[0]);
      if (contestant !== null) others.push({ name: peer.name, ...contestant });
    }
    const expected = await own[0].output();
    const differences = await check(expected.slice(), own, others);
    findings.push(...differences.map((finding) => ({ row: title, ...finding })));
    const rounds = await measure([...own, ...others], paceOf(point, pace));
    for (const { release } of others) await release?.();
    measured.push({ ...point, ...summary(rounds, others) });
  }
  return { points: measured, findings: summarised(findings) };
}

const WITH_SUMS = /^(float|bfloat|u?int)(8|16|32|64)$/;

/**
 * Makes calls with every data type and reduction, as the process of a runtime does: a loop that has seen only one class
 * of arrays is faster than in practice.
 */
function useAllTypes(lib, engine) {
  for (let round = 0; round < 100; round++) {
    for (const dtype of Object.keys(lib.DTYPES)) {
      const data = lib.zeros(dtype, [8]);
      const updates = lib.zeros(dtype, [4]);
      const indices = lib.tensor(round % 2 === 0 ? "int64" : "int32", [4, 1], [[1], [7], [2], [4]]);
      for (const reduction of WITH_SUMS.test(dtype) ? ["none", "add", "max"] : ["none"]) {
        engine.scatterND(data, indices, updates, { reduction });
        engine.scatterND(data, indices, updates, { reduction, out: data });
      }
      engine.gatherND(data, indices);
      engine.gatherND(data, indices, { out: updates });
    }
  }
}

/** @returns {import("./measure.js").Pace} */
function paceOf({ updates, slice }, pace) {
  const elements = updates * slice;
  if (elements > LARGE.elements) return { ...pace, samples: Math.min(pace.samples, LARGE.samples) };
  return elements > SHORT ? pace : shortCalls(pace);
}

/** @param {Map<string, number[]>} rounds milliseconds */
function summary(rounds, peers) {
  const times = [...rounds].map(([name, list]) => [name, round(median(list) * 1e6)]);
  const ratios = Object.entries(BESIDE)
    .filter(([mode]) => rounds.has(mode))
    .map(([mode, loop]) => [mode, ratioOfRounds(rounds.get(mode), rounds.get(loop))]);
  const best = peers
    .map(({ name }) => name)
    .sort((a, b) => median(rounds.get(a)) - median(rounds.get(b)))[0];
  return {
    times: Object.fromEntries(times),
    ratios: Object.fromEntries(ratios),
    ...(best === undefined
      ? {}
      : { peer: { name: best, ...ratioOfRounds(rounds.get(best), rounds.get("new")) } }),
  };
}

/** A finding about the library is reported for each point; a finding about a peer once, with the number of points. */
function summarised(findings) {
  const others = findings.filter(({ ours: isOurs }) => !isOurs);
  return [
    ...findings.filter(({ ours: isOurs }) => isOurs),
    ...[...new Set(others.map(({ name }) => name))].map((name) => {
      const list = others.filter((finding) => finding.name === name);
      const more = list.length > 1 ? `; and differs at ${list.length - 1} more points` : "";
      return { ...list[0], message: `${list[0].message}${more}` };
    }),
  ];
}

/** Returns the row of a point in the form of the peers, and its inputs: as many sets as fit into a cache. */
function setsOf({ kind, slice, updates, into }) {
  const tail = slice === 1 ? [] : [slice];
  const row = {
    name: `curve ${kind} ${slice} ${updates}`,
    dtype: "float32",
    data: [into, ...tail],
    indices: [updates, 1],
    fill: "random",
    ...(kind === "gather"
      ? { op: "gatherND", batchDims: 0 }
      : { op: "scatterND", reduction: kind }),
  };
  const bytes = 4 * slice * (2 * into + updates) + 8 * updates;
  let count = MOST_SETS;
  while (count > 1 && count * bytes > CACHE) count /= 2;
  const sets = Array.from({ length: count }, (_, p) =>
    inputsOf({ ...row, name: `${row.name} ${p}` }),
  );
  return { row, sets };
}

/** Returns a contestant whose calls take the sets in turn. Its output is that of the first set. */
function inTurn(name, sets, call, elements, more = {}) {
  let turn = 0;
  const mask = sets.length - 1;
  return {
    name,
    call: () => call(sets[(turn = (turn + 1) & mask)]),
    output: () => elements(call(sets[0])),
    ...more,
  };
}

const zerosOf = (lib, { shapes }) => lib.zeros("float32", shapes.output);

/** The least number of results dropped per sample, so that the sample includes the cost of its own garbage. */
const GARBAGE = { atLeast: 2 };

/** The calls of each kind in a user's code: `none` is the default, so the code omits it. */
const CALLS = {
  none: {
    fresh: (engine, [data, indices, values]) => engine.scatterND(data, indices, values),
    into: (engine, [data, indices, values], out) =>
      engine.scatterND(data, indices, values, { out }),
    plan: (plan, [data, , values], out) => plan.scatter(data, values, { out }),
  },
  add: {
    fresh: (engine, [data, indices, values]) =>
      engine.scatterND(data, indices, values, { reduction: "add" }),
    into: (engine, [data, indices, values], out) =>
      engine.scatterND(data, indices, values, { reduction: "add", out }),
    plan: (plan, [data, , values], out) => plan.scatter(data, values, { reduction: "add", out }),
  },
  gather: {
    fresh: (engine, [data, indices]) => engine.gatherND(data, indices),
    into: (engine, [data, indices], out) => engine.gatherND(data, indices, { out }),
    plan: (plan, [data], out) => plan.gather(data, { out }),
  },
};

function ours(lib, engine, row, { kind, updates }, inputs) {
  const dataOf = ({ data }) => data.slice();
  const { fresh, into, plan: planned } = CALLS[kind];
  const sets = inputs.map((input) => {
    const tensors = heapTensors(lib, row, input);
    const make = kind === "gather" ? engine.planGatherND : engine.planScatterND;
    return { tensors, plan: make(input.shapes.data, tensors[1]), out: zerosOf(lib, input) };
  });
  const contestant = (name, call, more) => inTurn(name, sets, call, dataOf, more);
  const newOf = ({ tensors }) => fresh(engine, tensors);
  const own = [
    contestant("new", newOf, GARBAGE),
    contestant("into", ({ tensors, out }) => into(engine, tensors, out)),
    contestant("plan", ({ plan, tensors, out }) => planned(plan, tensors, out)),
  ];
  if (updates < LEAST_DISPOSED) return own;
  const call = () => newOf(sets[0]);
  return [...own, { name: "disposed", call: () => call().dispose(), output: () => dataOf(call()) }];
}

function hand({ fresh, into, unchecked }, { updates }, inputs) {
  const size = inputs[0].shapes.output.reduce((product, dim) => product * dim, 1);
  const sets = inputs.map((input) => ({ ...input, out: new Float32Array(size) }));
  const same = (values) => values.slice();
  const loop = (name, apply, more) =>
    inTurn(
      name,
      sets,
      ({ data, indices, updates: values, out }) => apply(data, indices, values, out),
      same,
      more,
    );
  return [
    loop("hand new", fresh, GARBAGE),
    loop("hand into", into),
    ...(updates <= MOST_UNCHECKED ? [loop("hand unchecked", unchecked)] : []),
  ];
}
