/** Nodes whose updates repeat a target are run alone until they differ, and what changes is called a race. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  verifyModel,
  writeModel,
  type Model,
  type Session,
  type VerifiedNode,
  type VerifyOptions,
  type VerifyReport,
} from "../../src/entries/onnx.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { setLimits } from "../support/limits.ts";
import {
  F32,
  gather,
  i64,
  scatterElements,
  scatterND,
  takePutAgain,
} from "../support/node-models.ts";
import { repeatsFile } from "../support/place-models.ts";
import { racingRuntime, type RacingRuntime } from "../support/racing-runtime.ts";
import { assertRejected } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

const x = tensor("float32", [4], [1, 2, 3, 4]);
const BYTES = writeModel(takePutAgain());
const FEEDS = { x, i: i64([2], 1, 0) };

const LIMITS = { reruns: 9, rerunTime: Infinity, oneThreadRuns: 3 };

/** Verifies under limits of its own, after which every session is released. */
async function verified(
  runtime: RacingRuntime,
  options: Partial<VerifyOptions> = {},
  limits = LIMITS,
  [bytes, feeds]: readonly [Uint8Array, Readonly<Record<string, Tensor>>] = [BYTES, FEEDS],
): Promise<VerifyReport> {
  const restore = setLimits({ VERIFY: limits });
  try {
    return await verifyModel(bytes, feeds, { ...runtime, ...options });
  } finally {
    restore();
    assert.equal(runtime.open(), 0, "sessions that are not released");
  }
}

const nodeOf = ({ nodes }: VerifyReport, path: string): VerifiedNode =>
  nodes.find((one) => one.path === path) as VerifiedNode;

/** Of the updates 10 and 20 of element 0 the first stays. */
const firstStays = (outputs: Record<string, Tensor>): void => {
  if ("s" in outputs) outputs["s"] = tensor("float32", [4], [10, 2, 3, 4]);
};

/** A runtime that is wrong from the nth run of a node alone on. */
const wrongFrom = (run: number): RacingRuntime =>
  racingRuntime(firstStays, (isAlone, nth) => isAlone && nth >= run);

for (const run of [1, 2, 9]) {
  test(`a race in run ${run} of the node alone is found, although the model's run was exact`, async () => {
    const runtime = wrongFrom(run);
    const report = await verified(runtime);
    const { verdict, difference, isReproducible, otherRuns, reruns, diagnoses } = nodeOf(
      report,
      "put",
    );
    assert.deepEqual(
      [report.agrees, verdict, isReproducible, otherRuns],
      [false, "differs", false, [`run ${run} of the node alone`]],
    );
    assert.deepEqual(difference, { output: "s", at: [0] });
    assert.deepEqual(
      [reruns?.count, reruns?.isSame, reruns?.isExactInOneThread, reruns?.problem],
      [run, false, null, null],
    );
    assert.deepEqual(
      diagnoses.map(({ id }) => id),
      ["any-order"],
    );
    // The whole model, its nodes, and the node alone in one session.
    assert.deepEqual([runtime.models.length, runtime.alone()], [3, run]);
  });
}

test("a suspect is run as often as the limit says, and the report says how often", async () => {
  const runtime = wrongFrom(10);
  const report = await verified(runtime);
  const { verdict, isReproducible, reruns } = nodeOf(report, "put");
  assert.deepEqual([report.agrees, verdict, isReproducible], [true, "equal", true]);
  assert.deepEqual(reruns, { count: 9, isSame: true, isExactInOneThread: null, problem: null });
});

test("after the time is over no run begins, but the first does", async () => {
  const none = { ...LIMITS, rerunTime: 0 };
  assert.equal(nodeOf(await verified(wrongFrom(3), {}, none), "put").reruns?.count, 1);
  assert.equal(nodeOf(await verified(wrongFrom(1), {}, none), "put").verdict, "differs");
});

const once = i64([2, 1], 1, 2);
const twice = i64([2, 1], 1, 1);
// prettier-ignore
const SUSPECTS: readonly (readonly [title: string, model: Model, isSuspect: boolean])[] = [
  ["index tuples of one target", scatterND({ indices: twice }), true],
  ["one target, once counted from the end", scatterND({ indices: i64([2, 1], 1, -7) }), true],
  ["one target with a reduction", scatterND({ indices: twice, attributes: { reduction: "max" } }), true],
  ["indices of one element", scatterElements({ indices: i64([2], 3, 3) }), true],
  ["targets that are all different", scatterND({ indices: once, attributes: { reduction: "add" } }), false],
  ["elements that are all different", scatterElements({ indices: i64([2], 3, 0) }), false],
  ["a gather of one element twice", gather({ indices: i64([2], 1, 1) }), false],
];

for (const [title, model, isSuspect] of SUSPECTS) {
  test(`${title}: ${isSuspect ? "a suspect" : "no suspect"}`, async () => {
    const feeds = Object.fromEntries(
      model.graph.inputs.map(({ name, type }) => [
        name,
        zeros("float32", type?.shape as readonly number[]),
      ]),
    );
    const runtime = racingRuntime();
    const { nodes } = await verified(runtime, {}, LIMITS, [writeModel(model), feeds]);
    assert.deepEqual(
      [nodes[0].verdict, nodes[0].reruns?.count, runtime.models.length],
      ["equal", ...(isSuspect ? [LIMITS.reruns, 3] : [undefined, 2])],
    );
  });
}

test("a suspect is run alone in every runtime", async () => {
  const right = racingRuntime();
  const wrong = wrongFrom(4);
  const others = { "8 threads": wrong.createSession };
  const report = await verified(right, { others });
  const { otherRuns, reruns, verdict } = nodeOf(report, "put");
  assert.deepEqual([otherRuns, verdict], [["8 threads, run 4 of the node alone"], "differs"]);
  assert.equal(reruns?.count, 9 + 4);
  assert.equal(wrong.open(), 0);
});

test("a node that has changed between runs of the model is not run alone", async () => {
  const runtime = racingRuntime(firstStays, (isAlone, nth) => !isAlone && nth === 3);
  const { otherRuns, reruns, verdict } = nodeOf(await verified(runtime, { runs: 3 }), "put");
  assert.deepEqual([otherRuns, reruns?.count, verdict], [["run 2"], 0, "differs"]);
});

test("of many runs that differ the first is reported, and the others are counted", async () => {
  let value = 10;
  const runtime = racingRuntime(
    (outputs) => {
      if ("s" in outputs) outputs["s"] = tensor("float32", [4], [value++, 2, 3, 4]);
    },
    // The first run is that of the whole model.
    (_, nth) => nth > 2,
  );
  const { difference, sentence, otherRuns } = nodeOf(await verified(runtime, { runs: 50 }), "put");
  assert.deepEqual(difference, { output: "s", at: [0] });
  reportSentence("verdict differs", sentence);
  assert.deepEqual(
    otherRuns,
    Array.from({ length: 49 }, (_, n) => `run ${n + 2}`).filter((_, n) => n !== 10),
  );
});

test("one thread that is exact is evidence of a race, and one that is not is none", async () => {
  const oneThread = racingRuntime();
  const exact = nodeOf(await verified(wrongFrom(1), { oneThread: oneThread.createSession }), "put");
  assert.deepEqual(
    [exact.reruns?.isExactInOneThread, exact.diagnoses[0].id, oneThread.alone()],
    [true, "any-order", LIMITS.oneThreadRuns],
  );
  const wrong = nodeOf(
    await verified(wrongFrom(1), { oneThread: racingRuntime(firstStays).createSession }),
    "put",
  );
  assert.deepEqual(
    [wrong.reruns?.isExactInOneThread, wrong.diagnoses[0].id],
    [false, "first-wins"],
  );
  const broken = (): Promise<Session> => Promise.reject(new Error("no threads"));
  const unknown = nodeOf(await verified(wrongFrom(1), { oneThread: broken }), "put");
  assert.equal(unknown.reruns?.isExactInOneThread, null);
  // A node that is equal needs no evidence.
  const unused = racingRuntime();
  await verified(racingRuntime(), { oneThread: unused.createSession });
  assert.equal(unused.models.length, 0);
});

test("a node that does not run alone says why, and keeps its verdict", async () => {
  const runtime = racingRuntime();
  const createSession = async (bytes: Uint8Array): Promise<Session> => {
    const session = await runtime.createSession(bytes);
    if (runtime.models.at(-1)?.graph.constants.length !== 0) return session;
    await session.release?.();
    throw new Error("no kernel");
  };
  const { verdict, reruns } = nodeOf(await verified(runtime, { createSession }), "put");
  assert.equal(verdict, "equal");
  assert.deepEqual(reruns, {
    count: 0,
    isSame: true,
    isExactInOneThread: null,
    problem: "no kernel",
  });
});

test("runs of a node alone are reported while they last", async () => {
  const told: unknown[] = [];
  await verified(racingRuntime(), { onProgress: ({ alone }) => void told.push(alone) });
  assert.deepEqual(told.slice(0, 3), [null, null, null]);
  assert.deepEqual(
    told.slice(3),
    Array.from({ length: 9 }, (_, n) => ({ path: "put", count: n + 1 })),
  );
});

/** data of one -0, to which 0 is added twice: exactly 0. */
const ZEROS = [
  writeModel(
    scatterND({
      data: F32(1),
      indices: i64([2, 1], 0, 0),
      updates: tensor("float32", [2], [0, 0]),
      attributes: { reduction: "add" },
    }),
  ),
  { data: tensor("float32", [1], [-0]) },
] as const;

const minusZero = (outputs: Record<string, Tensor>): void => {
  outputs["y"] = tensor("float32", [1], [-0]);
};

test("a race that gives -0 differs; a runtime whose zero always is -0 has another zero", async () => {
  const racing = racingRuntime(minusZero, (isAlone, nth) => isAlone && nth === 2);
  const [lost] = (await verified(racing, {}, LIMITS, ZEROS)).nodes;
  assert.deepEqual([lost.verdict, lost.diagnoses[0].id], ["differs", "lost-updates"]);
  const [same] = (await verified(racingRuntime(minusZero), {}, LIMITS, ZEROS)).nodes;
  assert.deepEqual([same.verdict, same.reruns?.count], ["nan-or-zero", LIMITS.reruns]);
});

test("the runtime's dialect must be known", async () => {
  await assertRejected("attribute", {}, () =>
    verified(racingRuntime(), { dialect: "abacus" as never }),
  );
  await assertRejected("attribute", {}, () => verified(racingRuntime(), { oneThread: 5 as never }));
});

test("a node in a branch and one in a function, with the reduction of its call, are run alone too", async () => {
  const feeds = {
    x: tensor("float32", [3], [1, 2, 3]),
    u: tensor("float32", [2], [10, 20]),
    c: tensor("bool", [], [true]),
  };
  const given = [repeatsFile(), feeds] as const;
  const exact = await verified(racingRuntime(), {}, LIMITS, given);
  for (const path of exact.nodes.map((one) => one.path)) {
    const { op, verdict, reruns } = nodeOf(exact, path);
    assert.deepEqual(
      [op, verdict, reruns?.count, reruns?.problem],
      ["ScatterND", "equal", 9, null],
      path,
    );
  }
  assert.equal(exact.nodes.length, 2);
  // Every third run of a model of one node loses an update; the capture of a branch is one too.
  const lose = (outputs: Record<string, Tensor>): void => {
    for (const name of Object.keys(outputs)) outputs[name] = tensor("float32", [3], [1, 12, 3]);
  };
  const racing = racingRuntime(lose, (isAlone, nth) => isAlone && nth % 3 === 0);
  const { nodes } = await verified(racing, {}, LIMITS, given);
  for (const { path, verdict, otherRuns } of nodes) {
    assert.equal(verdict, "differs", path);
    assert.match(otherRuns.join(), /^run [1-3] of the node alone$/, path);
  }
});
