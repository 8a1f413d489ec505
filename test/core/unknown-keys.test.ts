/**
 * Unknown keys: each public function that takes an object of named values refuses a name that it does not know, so that
 * a misspelled or misplaced option is never ignored. The last test keeps the list of functions complete.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as bullmq from "../../src/entries/bullmq.ts";
import * as chunked from "../../src/entries/chunked.ts";
import * as nd from "../../src/entries/index.ts";
import * as npy from "../../src/entries/npy.ts";
import * as onnx from "../../src/entries/onnx.ts";
import * as openvino from "../../src/entries/openvino.ts";
import * as operators from "../../src/entries/operators.ts";
import * as webgpu from "../../src/entries/webgpu.ts";
import * as zarr from "../../src/entries/zarr.ts";
import { isTensorError, type ErrorOf } from "../../src/core/errors.ts";
import { MemoryArray } from "../support/memory-array.ts";

const { tensor } = nd;
const data = tensor("float32", [3], [1, 2, 3]);
const tuples = tensor("int64", [1, 1], [0]);
const one = tensor("float32", [1], [5]);
const node = { op: "ScatterND", opset: 18 };
const SCATTER = [data, tuples, one] as const;
const literal = {
  opsets: { "ai.onnx": 18 },
  inputs: { x: { dtype: "float32", shape: [1] } },
  nodes: [{ op: "Identity", inputs: ["x"], outputs: ["y"] }],
  outputs: { y: null },
} as const;
const model = onnx.buildModel(literal);
const bytes = onnx.writeModel(model);
const createSession = (): Promise<never> => Promise.reject(new Error("no runtime"));
const engine = nd.createEngine({ kind: "js" });
const plan = nd.planScatterND([3], tuples);
const job = { folder: "none", id: "none", stages: [] };
const array = new MemoryArray(data, [1]);
const request = {
  ...{ folder: "none", data: array, indices: array, out: null, memory: 1, threads: 0 },
  call: { function: "gatherND", options: {} },
};

/** Drains a generator. */
async function all(list: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of list);
}

type Extra = Readonly<Record<string, unknown>>;
type Call = (extra: Extra) => unknown;

const ofJob = (extra: Extra) => ({ ...request, ...extra }) as never;

/** Calls by the name of the function, and by the object if it takes several. */
const CALLS: Readonly<Record<string, Call>> = {
  scatterND: (extra) => nd.scatterND(...SCATTER, extra),
  scatterElements: (extra) => nd.scatterElements(data, tensor("int64", [1], [0]), one, extra),
  scatter: (extra) => nd.scatter(data, tensor("int64", [1], [0]), one, extra),
  tensorScatter: (extra) =>
    nd.tensorScatter(nd.zeros("float32", [1, 3]), nd.zeros("float32", [1, 1]), undefined, extra),
  gather: (extra) => nd.gather(data, tensor("int64", [1], [0]), extra),
  gatherElements: (extra) => nd.gatherElements(data, tensor("int64", [1], [0]), extra),
  gatherND: (extra) => nd.gatherND(data, tuples, extra),
  planScatterND: (extra) => nd.planScatterND([3], tuples, extra as never),
  planScatterElements: (extra) => nd.planScatterElements([3], tensor("int64", [1], [0]), extra),
  planGatherND: (extra) => nd.planGatherND([3], tuples, extra),
  planGatherElements: (extra) => nd.planGatherElements([3], tensor("int64", [1], [0]), extra),
  planGather: (extra) => nd.planGather([3], tensor("int64", [1], [0]), extra),
  "the plan's scatter": (extra) => plan.scatter(data, one, extra),
  "the plan's gather": (extra) => plan.gather(data, extra),
  "the plan's scatterVjp": (extra) => plan.scatterVjp(data, one, data, extra),
  "the plan's gatherVjp": (extra) => plan.gatherVjp(one, extra),
  createEngine: (extra) => nd.createEngine(extra),
  "the engine's scatterND": (extra) => engine.scatterND(...SCATTER, extra),
  "the engine's async.scatterND": (extra) => engine.async.scatterND(...SCATTER, extra),
  "the engine's async.vjp": (extra) => engine.async.vjp(node, SCATTER, data, extra),
  run: (extra) => nd.run(node, SCATTER, extra),
  "run, node": (extra) => nd.run({ ...node, ...extra }, SCATTER),
  "run, attributes": (extra) => nd.run({ ...node, attributes: extra as never }, SCATTER),
  vjp: (extra) => nd.vjp(node, SCATTER, data, extra),
  "vjp, call": (extra) => nd.vjp({ function: "scatterND", ...extra } as never, SCATTER, data),
  "vjp, options of the call": (extra) =>
    nd.vjp({ function: "scatterND", options: extra }, SCATTER, data),
  "infer, node": (extra) => nd.infer({ ...node, ...extra }, SCATTER),
  diagnose: (extra) => nd.diagnose(node, SCATTER, data, extra),
  "diagnose, node": (extra) => nd.diagnose({ ...node, ...extra }, SCATTER, data),
  "compareDialects, node": (extra) => nd.compareDialects({ ...node, ...extra }, SCATTER),
  explainGradient: (extra) => nd.explainGradient(node, SCATTER, data, extra),
  buildModel: (extra) => onnx.buildModel({ ...literal, ...extra }),
  "buildModel, node": (extra) =>
    onnx.buildModel({ ...literal, nodes: [{ ...literal.nodes[0], ...extra }] }),
  "buildModel, type": (extra) =>
    onnx.buildModel({ ...literal, inputs: { x: { ...literal.inputs.x, ...extra } } }),
  readModel: (extra) => onnx.readModel(bytes, extra),
  readTensor: (extra) => onnx.readTensor(onnx.writeTensor(data), extra),
  readOutline: (extra) => onnx.readOutline({ size: bytes.length, read: () => bytes }, extra),
  splitModel: (extra) => onnx.splitModel(model, ["y"], extra),
  convertModel: (extra) => onnx.convertModel(model, { opset: 18 }, extra),
  "convertModel, target": (extra) => onnx.convertModel(model, { opset: 18, ...extra }),
  captureCalls: (extra) => all(onnx.captureCalls(bytes, {}, { createSession, ...extra })),
  verifyModel: (extra) => onnx.verifyModel(bytes, {}, { createSession, ...extra }),
  fixModel: (extra) => onnx.fixModel(bytes, {}, { createSession, ...extra }),
  createExactSession: (extra) => onnx.createExactSession(bytes, { createSession, ...extra }),
  createGpuEngine: (extra) => webgpu.createGpuEngine(extra),
  openArray: (extra) => zarr.openArray("none.zarr", extra),
  openPending: (extra) => zarr.openPending("none.zarr", extra as never),
  createArray: (extra) =>
    zarr.createArray("none.zarr", { dtype: "int8", shape: [1], chunkShape: [1], ...extra }),
  createPending: (extra) =>
    zarr.createPending("none.zarr", { dtype: "int8", shape: [1], chunkShape: [1], ...extra }),
  openGroup: (extra) => zarr.openGroup("none.zarr", extra),
  scatterChunked: (extra) =>
    chunked.scatterChunked(array, array, array, { out: "none.npy", threads: 0, ...extra } as never),
  gatherChunked: (extra) =>
    chunked.gatherChunked(array, array, { out: "none.npy", threads: 0, ...extra } as never),
  createJob: (extra) => chunked.createJob(ofJob(extra)),
  "createJob, call": (extra) => chunked.createJob(ofJob({ call: { ...request.call, ...extra } })),
  planJob: (extra) => chunked.planJob(ofJob(extra)),
  gatherInMemory: (extra) => chunked.gatherInMemory(ofJob(extra)),
  "gatherInMemory, options": (extra) => chunked.gatherInMemory(ofJob({}), extra),
  runJob: (extra) => chunked.runJob("none", extra),
  startPool: (extra) => chunked.startPool({ threads: 0, ...extra }),
  slurmScript: (extra) => chunked.slurmScript(job as never, extra),
  submitJob: (extra) => bullmq.submitJob("none", { connection: "redis://none", ...extra }),
  createWorker: (extra) =>
    bullmq.createWorker({ connection: "redis://none", threads: 1, memory: 1, ...extra }),
};

/** Returns the error of a call with an unknown key. */
async function refusalOf(call: Call, key: string): Promise<ErrorOf<"attribute">> {
  const found: unknown = await Promise.resolve()
    .then(() => call({ [key]: 1 }))
    .then(
      () => null,
      (error: unknown) => error,
    );
  assert.ok(isTensorError(found, "attribute"), String(found));
  assert.equal(found.key, key);
  return found;
}

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name} refuses an unknown key, and offers the nearest one`, async () => {
    const { allowed = [] } = await refusalOf(call, "colour");
    const known = allowed.map(String).sort((one, other) => other.length - one.length)[0] ?? "";
    if (known.length < 4) return;
    const { nearest } = await refusalOf(call, known.slice(0, -1));
    assert.equal(nearest, known);
  });
}

test("keys that belong elsewhere are refused", () => {
  for (const reduction of ["add", "none"]) {
    assert.throws(
      () => nd.planScatterND([3], tuples, { reduction } as never),
      (error) => isTensorError(error, "attribute") && error.key === "reduction",
    );
  }
  assert.throws(
    () => onnx.buildModel({ ...literal, initializers: { x: data } } as never),
    (error) => isTensorError(error, "attribute") && error.key === "initializers",
  );
});

/** Exports without an object of options, nodes or literals. `explain` reports an error instead of throwing it. */
const WITHOUT =
  "isDType isTensorError TensorError equals firstDifference full printScalar printShape resolve roleOf " +
  "compareVersions dialects operators printShortage tensor toRuntime typesOf zeros explain readNpy writeNpy checkFree " +
  "describeJob findJobs jobFailure openJob remainingTasks removeJob taskRate workersOf " +
  "constant comparedValues externalFiles extractNode indexedSizes inferTypes inspectModel listNodes neededFor NodeIndex " +
  "modelNotes nodeCall runModel runNode unsupportedOperators writeModel writeTensor readIR writeIR";

test("every public function is in one of the lists", () => {
  const listed = new Set([
    ...Object.keys(CALLS).map((name) => name.split(",")[0]),
    ...WITHOUT.split(" "),
  ]);
  const entries = [bullmq, chunked, nd, npy, onnx, openvino, operators, webgpu, zarr];
  const functions = entries.flatMap((entry) =>
    Object.entries(entry).flatMap(([name, value]) => (typeof value === "function" ? [name] : [])),
  );
  assert.deepEqual(
    functions.filter((name) => !listed.has(name)),
    [],
  );
});
