/** Every session that verifying opens is released, once, also where the runtime fails. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { captureCalls, verifyModel, writeModel, type Session } from "../../src/entries/onnx.ts";
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

test("a capture that its reader leaves after the first node", async () => {
  const runtime = racingRuntime();
  for await (const { path } of captureCalls(BYTES, GOOD, runtime)) {
    assert.deepEqual([path, runtime.open()], ["take", 1]);
    break;
  }
  assert.equal(runtime.open(), 0);
});
