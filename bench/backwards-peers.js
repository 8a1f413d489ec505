/**
 * The cost of a gather of rows and its gradient, here and in TensorFlow.js, in turn. `tf.grad` of `tf.gather` runs on the
 * CPU backend only and reads all gathered rows once for each row of the table, so large rows leave it out. `customGrad`
 * is what a careful user writes: a gather with `tf.scatterND` as its gradient, which both backends have.
 *
 *     node bench/backwards-peers.js [--samples 7] [--only 256] [--processor]
 *
 * `--processor` measures processor time, which other processes affect less than the time of day.
 */

import { parseArgs } from "node:util";
import * as lib from "../dist/entries/index.js";
import { measure, processorTime } from "./measure.js";
import { below, randomBits, seedOf } from "./random.js";
import { median, ratioOfRounds, round } from "./statistics.js";
import { loadTfjs } from "./tfjs-gradients.js";

const { values } = parseArgs({
  options: {
    samples: { type: "string", default: "7" },
    only: { type: "string", default: "" },
    processor: { type: "boolean", default: false },
  },
});

/** Rows of the table, elements of a row, gathered rows. */
const ROWS = [
  [64, 16, 256],
  [256, 16, 1024],
  [4096, 64, 16_384],
  [100_000, 128, 200_000],
];

/** The most elements that `tf.grad` of `tf.gather` reads in one call: about a second. */
const MOST_READ = 2 ** 23;

const tf = await loadTfjs();
const engine = lib.createEngine();

function inputsOf(rows, slice, count) {
  const bits = randomBits(seedOf(`${rows} ${slice} ${count}`));
  const numbers = (size) => Float32Array.from({ length: size }, () => below(bits, 9) - 4);
  return {
    data: numbers(rows * slice),
    ids: Int32Array.from({ length: count }, () => below(bits, rows)),
    gradient: numbers(count * slice),
  };
}

function ours([rows, slice, count], { data, ids, gradient }) {
  const table = lib.tensor("float32", [rows, slice], data);
  const indices = lib.tensor("int32", [count], ids);
  const given = lib.tensor("float32", [count, slice], gradient);
  const gradientOf = () => lib.vjp({ function: "gather" }, [table, indices], given, { engine })[0];
  const call = () => {
    engine.gather(table, indices).dispose();
    gradientOf().dispose();
  };
  return { name: "ndscatter", call, output: () => gradientOf().data };
}

function theirs([rows, slice, count], { data, ids, gradient }) {
  const table = tf.tensor(data, [rows, slice]);
  const indices = tf.tensor(ids, [count], "int32");
  const tuples = tf.tensor(ids, [count, 1], "int32");
  const given = tf.tensor(gradient, [count, slice]);
  const gather = (x) => tf.gather(x, indices);
  const custom = tf.customGrad((x) => ({
    value: gather(x),
    gradFunc: (dy) => tf.scatterND(tuples, dy, [rows, slice]),
  }));
  const contestant = (name, gradientOf) => {
    const call = () => {
      const found = tf.tidy(() => gradientOf(table, given));
      const elements = found.dataSync();
      found.dispose();
      return elements;
    };
    return { name, call, output: call };
  };
  const all = [contestant("customGrad", tf.grad(custom))];
  if (tf.getBackend() === "cpu" && rows * count * slice <= MOST_READ) {
    all.push(contestant("tf.grad", tf.grad(gather)));
  }
  return { all, release: () => tf.dispose([table, indices, tuples, given]) };
}

const pace = {
  samples: Number(values.samples),
  brief: true,
  ...(values.processor && { now: processorTime }),
};
for (const row of ROWS) {
  const [rows, slice, count] = row;
  const name = `${count} of ${rows} rows of ${slice}`;
  if (!name.includes(values.only)) continue;
  const inputs = inputsOf(...row);
  for (const backend of ["cpu", "wasm"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, because they are timed
    await tf.setBackend(backend);
    const own = ours(row, inputs);
    const { all, release } = theirs(row, inputs);
    const expected = own.output();
    for (const { name: peer, output } of all) {
      if (output().some((value, p) => value !== expected[p])) throw new Error(`${peer}: ${name}`);
    }
    // oxlint-disable-next-line no-await-in-loop -- one after the other, because they are timed
    const times = await measure([own, ...all], pace);
    const time = (contestant) => round(median(times.get(contestant)));
    const cells = all.map(({ name: peer }) => {
      const { ratio, low, high } = ratioOfRounds(times.get(peer), times.get("ndscatter"));
      return `${peer} ${time(peer)} ms, ${ratio}x (${low} to ${high})`;
    });
    console.log(`${name}, ${backend}: ndscatter ${time("ndscatter")} ms; ${cells.join("; ")}`);
    release();
  }
}
engine.dispose();
