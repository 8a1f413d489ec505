/** The library: a call with its indices on the GPU, and a kept plan, which has read the indices before. */

import { createEngine, tensor } from "../../src/entries/index.ts";
import { WORK } from "../../src/gpu/kernels/recording.ts";
import { isScatter, optionsOf, shapesOf } from "./workloads.js";

const PLAN_FUNCTIONS = {
  scatterND: "planScatterND",
  scatterElements: "planScatterElements",
  gatherND: "planGatherND",
  gatherElements: "planGatherElements",
  gather: "planGather",
};

/** Returns the tensors of a row on the heap. */
function tensorsOf(row, { data, indices, updates }) {
  const shapes = shapesOf(row);
  return {
    data: tensor(row.dtype, shapes.data, data),
    indices: tensor("int64", shapes.indices, indices),
    updates: updates === null ? null : tensor(row.dtype, shapes.sequential, updates),
  };
}

/** Returns the result of the JavaScript engine, as words. */
export function expectedWords(row, inputs) {
  const { data, indices, updates } = tensorsOf(row, inputs);
  const engine = createEngine({ kind: "js" });
  const options = optionsOf(row);
  const result = isScatter(row)
    ? engine[row.op](data, indices, updates, options)
    : engine[row.op](data, indices, options);
  return wordsOf(result);
}

const wordsOf = ({ data }) => new Uint32Array(data.buffer, data.byteOffset, data.byteLength / 4);

/**
 * @param {import("../../src/entries/webgpu.ts").GpuEngine} engine
 * @returns {import("./timing.js").GpuContestant[]}
 */
export function ourContestants(engine, row, inputs) {
  const host = tensorsOf(row, inputs);
  const data = engine.upload(host.data);
  const indices = engine.upload(host.indices);
  const updates = host.updates === null ? null : engine.upload(host.updates);
  const out = row.inPlace ? data : engine.alloc(row.dtype, shapesOf(row).output);
  const { reduction, ...options } = optionsOf(row);
  const plan = engine[PLAN_FUNCTIONS[row.op]](row.data, host.indices, options);
  const call = isScatter(row)
    ? () => engine[row.op](data, indices, updates, { ...options, reduction, out })
    : () => engine[row.op](data, indices, { ...options, out });
  const callPlan = isScatter(row)
    ? () => plan.scatter(data, updates, { reduction, out })
    : () => plan.gather(data, { out });
  const outputOf = (run) => async () => wordsOf(await run().read());
  const contestant = (name, run) => ({
    name,
    call: () => void run(),
    output: outputOf(run),
    work: () => workOf(engine, run),
  });
  return [
    contestant("ndscatter", call),
    {
      ...contestant("ndscatter, kept plan", callPlan),
      release: () => {
        plan.dispose();
        for (const one of new Set([data, indices, updates, out])) one?.dispose();
      },
    },
  ];
}

/** Returns the device work of one call, as counted by the engine. */
async function workOf(engine, run) {
  // A call on the output of a pending call must check whether that call failed.
  await engine.done();
  const before = { ...WORK };
  run();
  return Object.fromEntries(
    ["passes", "commands", "dispatches", "bytes"].map((name) => [name, WORK[name] - before[name]]),
  );
}
