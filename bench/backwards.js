/**
 * The cost of gradients relative to their calls: `vjp` of each workload of floats, with all gradients, and the workload
 * itself, in turn. The calls run on the heap with new results, and resident with one thread and two.
 *
 *     node bench/backwards.js [--scale 0.1] [--samples 7] [--only rows]
 */

import { parseArgs } from "node:util";
import * as lib from "../dist/entries/index.js";
import { measure } from "./measure.js";
import { heapTensors } from "./ours.js";
import { median, ratioOfRounds, round } from "./statistics.js";
import { inputsOf, isScatter, optionsOf, scaled, WORKLOADS } from "./workloads.js";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    samples: { type: "string", default: "7" },
    only: { type: "string", default: "" },
  },
});

/** `vjp` and the call, with tensors on the heap and new results, which are disposed. */
function heap(engine, row, tensors, gradient) {
  const options = optionsOf(row);
  const node = { function: row.op, options };
  return {
    forward: () => engine[row.op](...tensors, options).dispose(),
    backward() {
      for (const one of lib.vjp(node, tensors, gradient, { engine })) one?.dispose();
    },
  };
}

/**
 * `vjp` and the call, with all tensors in the engine's memory. A row that is judged in place runs in place both ways.
 */
function resident(engine, row, tensors, gradient) {
  const copied = (tensor) => {
    const copy = engine.alloc(tensor.dtype, tensor.shape);
    copy.data.set(tensor.data);
    return copy;
  };
  const own = tensors.map(copied);
  const given = copied(gradient);
  const options = optionsOf(row);
  const [data, , updates] = own;
  const like = ({ dtype, shape }) => engine.alloc(dtype, shape);
  const forwardOut = row.inPlace ? data : like(given);
  const out = [row.inPlace ? given : like(data), null, ...(updates ? [like(updates)] : [])];
  const node = { function: row.op, options };
  return {
    forward: () => engine[row.op](...own, { ...options, out: forwardOut }),
    backward: () => lib.vjp(node, own, given, { engine, out }),
    release() {
      for (const one of new Set([...own, given, forwardOut, ...out])) one?.dispose();
    },
  };
}

const engines = {
  heap: lib.createEngine(),
  resident: lib.createEngine({ kind: "wasm" }),
  "resident 2": lib.createEngine({ kind: "wasm", threads: 2 }),
};
const names = Object.keys(engines);
console.log(`${"workload".padEnd(36)}${names.map((name) => name.padStart(26)).join("")}`);
for (const workload of WORKLOADS) {
  if (workload.dtype === "int64" || !workload.name.includes(values.only)) continue;
  const row = scaled(workload, Number(values.scale));
  const inputs = inputsOf(row);
  const tensors = heapTensors(lib, row, inputs);
  const source = isScatter(row)
    ? inputs.data
    : inputsOf({ ...row, name: `${row.name} gradient` }).data;
  const size = inputs.shapes.output.reduce((product, dim) => product * dim, 1);
  const filled = Reflect.construct(source.constructor, [size]);
  for (let at = 0; at < size; at += source.length) {
    filled.set(source.subarray(0, Math.min(source.length, size - at)), at);
  }
  const gradient = lib.tensor(row.dtype, inputs.shapes.output, filled);
  const cells = [];
  for (const name of names) {
    const ways = (name === "heap" ? heap : resident)(engines[name], row, tensors, gradient);
    const contestants = ["forward", "backward"].map((way) => ({ name: way, call: ways[way] }));
    // oxlint-disable-next-line no-await-in-loop -- one after the other, because they are timed
    const times = await measure(contestants, { samples: Number(values.samples) });
    const { ratio } = ratioOfRounds(times.get("backward"), times.get("forward"));
    const [forward, backward] = contestants.map((one) => round(median(times.get(one.name))));
    cells.push(`${forward} -> ${backward} ms, ${ratio}x`.padStart(26));
    ways.release?.();
  }
  console.log(row.name.padEnd(36) + cells.join(""));
}
for (const engine of Object.values(engines)) engine.dispose();
