/** Inputs that `--random` would make larger than the memory of the machine. */

import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { test } from "node:test";
import { madeUp } from "../../src/cli/input/made-up.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";

const withNode = { skip: WITHOUT_NODE_ITSELF };

test("a made-up input whose copies exceed the memory of the machine is refused", withNode, (t) => {
  t.mock.method(os, "totalmem", () => 4 * 16 - 1);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const made = (length: number) => madeUp("x", { dtype: "float32", shape: [length] }, [], () => 0);
  const advice = "use --dim to give smaller sizes, or --feed to give the tensor";
  const message = `the input "x" of shape [4] does not fit in memory; ${advice}`;
  assert.throws(() => made(4), { message });
  assert.deepEqual(made(3).shape, [3]);
});
