/** The sessions that verifying opens: how many, of which models, and that each is released, also where the runtime fails. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildModel,
  captureCalls,
  readModel,
  verifyModel,
  writeModel,
  type Model,
  type ModelSpec,
  type Session,
  type SessionSettings,
  type VerifyOptions,
} from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { i64, takePutAgain } from "../support/node-models.ts";
import { loopFile } from "../support/place-models.ts";
import { racingRuntime, type RacingRuntime } from "../support/racing-runtime.ts";
import { runtimeOf } from "../support/runtime-of.ts";

const BYTES = writeModel(takePutAgain());
const x = tensor("float32", [4], [1, 2, 3, 4]);
const GOOD = { x, i: i64([2], 1, 0) };
/** `again` takes element 3 of the 2 that `take` makes, so the runtime fails. */
const BAD = { x, i: i64([2], 1, 3) };

/** A runtime that loads only the first models. */
function loading(most: number): RacingRuntime {
  const runtime = racingRuntime();
  let count = 0;
  const createSession = async (bytes: Uint8Array): Promise<Session> => {
    if (++count > most) throw new Error("no memory");
    return runtime.createSession(bytes);
  };
  const { models, open, alone } = runtime;
  return runtimeOf(createSession, { models, open, alone });
}

for (const most of [0, 1, 2, 3]) {
  test(`a runtime that fails in the model, and loads ${most} models`, async () => {
    const runtime = loading(most);
    const { agrees } = await verifyModel(BYTES, BAD, runtime);
    assert.deepEqual([agrees, runtime.models.length, runtime.open()], [false, most, 0]);
  });
}

test("the session of the whole model, which is run because it has a body", async () => {
  const runtime = racingRuntime();
  const isWhole = (): boolean =>
    runtime.models.some(({ graph }) => graph.nodes.some(({ op }) => op === "Loop"));
  const feeds = {
    n: tensor("int64", [], 2n),
    c: tensor("bool", [], true),
    x: tensor("float32", [3], [1, 2, 3]),
  };
  const { problem } = await verifyModel(loopFile(), feeds, runtime);
  // This runtime runs no loops, so the session is made and its run fails.
  assert.ok(isWhole() && problem !== null);
  assert.equal(runtime.open(), 0);
});

test("a capture that ends after the first node, when the runtime has released its memory", async () => {
  const runtime = racingRuntime();
  for await (const { path } of captureCalls(BYTES, GOOD, runtime)) {
    assert.deepEqual([path, runtime.open()], ["take", 0]);
    break;
  }
  assert.equal(runtime.open(), 0);
});

/** A runtime that does not load models that `isRefused` chooses, and cannot return bfloat16, as onnxruntime-node. */
function refusing(isRefused: (model: Model, settings: SessionSettings) => boolean): RacingRuntime {
  const runtime = racingRuntime();
  const createSession = async (
    bytes: Uint8Array,
    settings: SessionSettings = {},
  ): Promise<Session> => {
    const model = readModel(bytes);
    const unknown = model.graph.nodes.find(({ op }) => op === "Unknown")?.name ?? "";
    if (isRefused(model, settings)) throw new Error(`not loaded ${unknown}`.trim());
    const session = await runtime.createSession(bytes);
    return {
      ...session,
      async run(feeds: never) {
        const outputs = (await session.run(feeds)) as Readonly<Record<string, { type: string }>>;
        for (const { type } of [
          ...Object.values(outputs),
          ...Object.values<{ type: string }>(feeds),
        ])
          if (type === "bfloat16") throw new Error("Unsupported data type: 16");
        return outputs;
      },
    };
  };
  const { models, open, alone } = runtime;
  return runtimeOf(createSession, { models, open, alone });
}

const has = ({ graph }: Model, op: string): boolean => graph.nodes.some((one) => one.op === op);

/** A gather, and other nodes behind it. */
const withTail = (...tail: ModelSpec["nodes"]): Uint8Array =>
  writeModel(
    buildModel({
      opsets: { "ai.onnx": 18, other: 1 },
      inputs: { x: { dtype: "float32", shape: [4] } },
      constants: { i: i64([2], 1, 0) },
      nodes: [{ op: "Gather", name: "take", inputs: ["x", "i"], outputs: ["t"] }, ...tail],
      outputs: { [tail.at(-1)?.outputs[0] ?? "t"]: null },
    }),
  );

const UNKNOWN = withTail({ op: "Unknown", domain: "other", inputs: ["t"], outputs: ["y"] });

test("a model that does not load is not right, although its nodes are", async () => {
  const runtime = refusing((model) => has(model, "Unknown"));
  const report = await verifyModel(UNKNOWN, { x }, { ...runtime, runs: 5 });
  assert.deepEqual(
    [report.loads, report.problem, report.agrees, report.nodes[0].verdict],
    ["never", "not loaded", false, "equal"],
  );
  // The nodes run once, because more runs test nothing in a model that does not load.
  assert.deepEqual([runtime.models.length, runtime.open()], [1, 0]);
});

test("a model that does not run is not right, although its nodes are", async () => {
  const runtime = racingRuntime();
  const { loads, problem, agrees, nodes } = await verifyModel(UNKNOWN, { x }, runtime);
  assert.deepEqual([loads, agrees, nodes[0].verdict], ["as-is", false, "equal"]);
  assert.notEqual(problem, null);
});

test("a model with nothing to compare is right only if it loads", async () => {
  const model = writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs: { x: { dtype: "float32", shape: [4] } },
      nodes: [{ op: "Identity", inputs: ["x"], outputs: ["y"] }],
      outputs: { y: null },
    }),
  );
  for (const isRefused of [true, false]) {
    // oxlint-disable-next-line no-await-in-loop
    const report = await verifyModel(
      model,
      { x },
      refusing(() => isRefused),
    );
    assert.deepEqual([report.nodes.length, report.agrees], [0, !isRefused]);
  }
});

test("a model that loads only without graph optimization is compared that way", async () => {
  const runtime = refusing(
    (_, { graphOptimizationLevel }) => graphOptimizationLevel !== "disabled",
  );
  const report = await verifyModel(BYTES, GOOD, runtime);
  assert.deepEqual(
    [report.loads, report.problem, report.agrees, ...report.nodes.map(({ verdict }) => verdict)],
    ["unoptimized", "not loaded", false, "equal", "equal", "equal"],
  );
});

test("the search for failing nodes has an end, and tells its sessions", async () => {
  const tail = Array.from({ length: 300 }, (_, at) => [
    { op: "Unknown", domain: "other", name: `u${at}`, inputs: ["x"], outputs: [`u${at}`] },
    { op: "Gather", name: `g${at}`, inputs: [`u${at}`, "i"], outputs: [`g${at}`] },
  ]).flat();
  const runtime = refusing((model) => has(model, "Unknown"));
  const told: number[] = [];
  const onProgress: VerifyOptions["onProgress"] = ({ searches }) => void told.push(searches);
  const { nodes } = await verifyModel(withTail(...tail), { x }, { ...runtime, onProgress });
  assert.equal(Math.max(...told), 60);
  assert.equal(nodes[0].verdict, "equal");
  assert.ok(nodes.slice(1).every(({ verdict }) => verdict === "failed" || verdict === "behind"));
});

test("values of bfloat16 pass through a runtime that does not return them", async () => {
  // 1, an infinity, -0 and a subnormal number.
  const table = tensor("bfloat16", [4], Uint16Array.of(0x3f80, 0x7f80, 0x8000, 1));
  const model = writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs: { table: { dtype: "bfloat16", shape: [4] }, i: { dtype: "int64", shape: [4] } },
      nodes: [{ op: "Gather", name: "take", inputs: ["table", "i"], outputs: ["t"] }],
      outputs: { t: { dtype: "bfloat16", shape: [4] } },
    }),
  );
  const feeds = { table, i: i64([4], 3, 2, 1, 0) };
  const { nodes, agrees } = await verifyModel(
    model,
    feeds,
    refusing(() => false),
  );
  assert.deepEqual([nodes[0].verdict, agrees], ["equal", true]);
});

test("infinities of float8e5m2 pass through a Cast, which would saturate", async () => {
  const value = { dtype: "float8e5m2", shape: [1, 4, 1] } as const;
  const model = writeModel(
    buildModel({
      opsets: { "ai.onnx": 24 },
      inputs: { cache: value, update: { ...value, shape: [1, 1, 1] } },
      nodes: [{ op: "TensorScatter", inputs: ["cache", "update"], outputs: ["y"] }],
      outputs: { y: value },
    }),
  );
  const feeds = {
    cache: tensor("float8e5m2", [1, 4, 1], Uint8Array.of(0x3c, 0x7c, 0xfc, 0x80)),
    update: tensor("float8e5m2", [1, 1, 1], Uint8Array.of(1)),
  };
  const { nodes, agrees } = await verifyModel(
    model,
    feeds,
    refusing(() => false),
  );
  assert.deepEqual([nodes[0].verdict, agrees], ["equal", true]);
});
