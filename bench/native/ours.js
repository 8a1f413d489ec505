/**
 * Measures ndscatter on the workloads of workloads.js, in a process of its own: `node ours.js TENSORS THREADS SECONDS`.
 * TENSORS is `plain` for ordinary JavaScript memory or `engine` for the memory of an engine. Prints the least
 * milliseconds of each workload as JSON: the lesser of a call with `out` and a fresh result that is disposed of. The
 * time is processor time for one thread, and wall time for more threads.
 */

import * as lib from "../../dist/entries/index.js";
import { processorTime } from "../measure.js";
import { heapTensors } from "../ours.js";
import { inputsOf, optionsOf } from "../workloads.js";
import { NATIVE_WORKLOADS } from "./workloads.js";

const [tensors, threads, seconds] = process.argv.slice(2);
const clock = Number(threads) === 1 ? processorTime : () => performance.now();

/** Returns the least milliseconds of a call within the given time, and of five calls at least. */
function least(call) {
  call();
  call();
  const end = performance.now() + Number(seconds) * 1000;
  let best = Infinity;
  for (let n = 0; n < 5 || performance.now() < end; n++) {
    const start = clock();
    call();
    best = Math.min(best, clock() - start);
  }
  return best;
}

function measureRow(row) {
  const heap = heapTensors(lib, row, inputsOf(row));
  const options = optionsOf(row);
  const engine = tensors === "engine" ? lib.createEngine({ threads: Number(threads) }) : null;
  const alloc = (dtype, shape) =>
    engine === null ? lib.zeros(dtype, shape) : engine.alloc(dtype, shape);
  const inputs = heap.map((tensor) => {
    if (engine === null) return tensor;
    const own = alloc(tensor.dtype, tensor.shape);
    own.data.set(tensor.data);
    return own;
  });
  const call = (engine ?? lib)[row.op];
  const first = call(...inputs, options);
  const into = { ...options, out: alloc(first.dtype, first.shape) };
  first.dispose();
  const time = Math.min(
    least(() => call(...inputs, into)),
    least(() => call(...inputs, options).dispose()),
  );
  engine?.dispose();
  return time;
}

const times = NATIVE_WORKLOADS.map((row) => [row.name, measureRow(row)]);
process.stdout.write(JSON.stringify(Object.fromEntries(times)));
// The threads of an engine would keep the process alive.
process.exit();
